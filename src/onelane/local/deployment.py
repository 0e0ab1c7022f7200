"""Deploys the real app with the real CDK command line, into whatever `AWS_ENDPOINT_URL` points at."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onelane.core.errors import OneLaneError

#: How much of a failed command's output the error repeats, in lines.
LAST_LINES = 25


class DeploymentFailed(OneLaneError):
    """A CDK command ended with an error; the text has its last lines."""


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """One stack's deployment.

    Attributes:
        repository: The checkout with `app.py` and `node_modules`.
        folder: Where the cloud assembly and the log go.
        environment: Environment variables that name endpoint, region and credentials.
        context: CDK context that overrides `cdk.json`; values that aren't text are passed as JSON.
        stack_name: Name of the stack.
    """

    repository: Path
    folder: Path
    environment: Mapping[str, str]
    context: Mapping[str, Any]
    stack_name: str = "OneLane"

    def synthesize(self) -> None:
        """Writes the cloud assembly. Needs no endpoint, credentials or network."""
        self._cdk("synth", "--quiet", *self._app())

    def bootstrap(self, account: str, region: str) -> None:
        """Prepares account and region for CDK deployments; repeating it is harmless."""
        self._cdk("bootstrap", f"aws://{account}/{region}", "--app", "")

    def deploy(self) -> dict[str, str]:
        """Deploys the assembly that `synthesize` wrote.

        Returns:
            The stack's outputs.
        """
        outputs = self.folder / "outputs.json"
        self._cdk(
            "deploy",
            self.stack_name,
            "--require-approval",
            "never",
            "--outputs-file",
            str(outputs),
            "--app",
            str(self._assembly),
        )
        read: dict[str, str] = json.loads(outputs.read_text())[self.stack_name]
        return read

    def destroy(self) -> None:
        """Deletes the stack; what the settings retain stays."""
        self._cdk("destroy", self.stack_name, "--force", "--app", str(self._assembly))

    @property
    def _assembly(self) -> Path:
        return self.folder / "cdk.out"

    def _app(self) -> list[str]:
        options = ["--output", str(self._assembly)]
        for key, value in self.context.items():
            options += ["--context", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
        return options

    def _cdk(self, *arguments: str) -> None:
        executable = self.repository / "node_modules" / ".bin" / "cdk"
        if not executable.exists():
            raise DeploymentFailed(f"the CDK command line is not installed at {executable}; run: make setup")
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "cdk.log"
        with log.open("ab") as output:
            start = output.tell()
            done = subprocess.run(
                [str(executable), *arguments],
                cwd=self.repository,
                env={**os.environ, **self.environment, "PATH": tool_path(self.repository), "CI": "true"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode != 0:
            lines = log.read_bytes()[start:].decode("utf-8", "replace").splitlines()[-LAST_LINES:]
            raise DeploymentFailed(_message(arguments, log, lines))


def tool_path(repository: Path) -> str:
    """A PATH on which the checkout's own Python, Node and CDK come first."""
    own = [repository / ".venv" / "bin", repository / "node_modules" / ".bin"]
    return os.pathsep.join([*map(str, own), os.environ.get("PATH", os.defpath)])


def lanes_with_backend(repository: Path, url: str, **settings: Any) -> dict[str, Any]:
    """The lanes of `cdk.json`, with the lane `default` pointed at a backend.

    Args:
        repository: The checkout.
        url: The backend's address.
        **settings: Other settings of the lane to override.
    """
    lanes: dict[str, Any] = json.loads((repository / "cdk.json").read_text())["context"]["lanes"]
    lane = lanes["default"]
    return {**lanes, "default": {**lane, **settings, "backend": {**lane["backend"], "url": url}}}


def find_repository() -> Path:
    """The checkout that this package, or the current folder, belongs to.

    Raises:
        DeploymentFailed: There is none.
    """
    for candidate in (Path(__file__).resolve().parents[3], Path.cwd(), *Path.cwd().parents):
        if (candidate / "app.py").exists() and (candidate / "cdk.json").exists():
            return candidate
    raise DeploymentFailed("no OneLane checkout here (app.py and cdk.json); run this command inside one")


def _message(arguments: Sequence[str], log: Path, lines: list[str]) -> str:
    return "\n".join([f"cdk {arguments[0]} failed; its last lines (all of them are in {log}):", *lines])
