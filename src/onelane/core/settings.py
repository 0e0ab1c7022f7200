"""Settings: what `cdk.json` may say under `context`, checked before anything is deployed.

    "lanes":   {"<name>": {…}}   one entry a lane; see LaneSettings and BackendSettings for the keys
    "removal": "retain" | "destroy"   what `cdk destroy` does to the data (default "retain")

Each mistake is one line that names the key, the value and what is allowed; all of them are reported at once.
"""

import contextlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from onelane.core.errors import SettingsError

#: Lanes of one stack. The lane keeper finds them in its environment, which AWS limits to 4 KB.
#: Source: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
MAX_LANES: Final = 10
LANE_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
BUCKET_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
#: Nothing may wait longer than a message can stay hidden (12 h), so cool-downs and gaps stay well below it.
MAX_WAIT_SECONDS: Final = 6 * 3600
#: A Standard run, and so a Task, lasts a year at most.
#: Source: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
MAX_TIMEOUT_SECONDS: Final = 365 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class BackendSettings:
    """How a lane reaches its backend.

    Attributes:
        url: Where `invoke_backend` posts the job: http or https.
        connect_timeout_seconds: 1 to 60; no connection in that time means the attempt failed.
        answer_timeout_seconds: 1 to 840, and at most the lane's `heartbeat_seconds`, since nobody beats while the
            backend is answering. A backend that answers 200 when it is done needs as long as its job takes; one
            that answers 202 a few seconds.
    """

    url: str
    connect_timeout_seconds: int = 5
    answer_timeout_seconds: int = 30


@dataclass(frozen=True, kw_only=True)
class LaneSettings:
    """One lane.

    Attributes:
        name: Lower-case letters, digits and hyphens, starting with a letter; 1 to 32 characters.
        backend: How the backend is reached.
        bucket: Name of an existing bucket, whose notifications stay as they are (EventBridge must be on); None
            makes one.
        prefix: Only objects whose key starts with it become jobs.
        suffix: Only objects whose key ends with it become jobs.
        timeout_seconds: The longest an attempt may take, 2 s to a year.
        heartbeat_seconds: The longest a backend may be silent, 1 s to below `timeout_seconds`.
        cool_down_seconds: After an attempt whose end nobody reported, 0 to 21,600 s; at least the heartbeat, so
            that a backend which lost contact has stopped itself.
        retry_seconds: After an attempt that reported its own failure, 0 to 21,600 s.
        max_attempts: 1 to 100.
        min_gap_seconds: From the end of a job to the start of the next, 0 to 21,600 s.
        on_failure: What a parked job does to the lane: `park` goes on, `halt` pauses it.
    """

    name: str
    backend: BackendSettings
    bucket: str | None = None
    prefix: str = ""
    suffix: str = ""
    timeout_seconds: int = 3600
    heartbeat_seconds: int = 60
    cool_down_seconds: int = 60
    retry_seconds: int = 10
    max_attempts: int = 3
    min_gap_seconds: int = 0
    on_failure: str = "park"


@dataclass(frozen=True, kw_only=True)
class StackSettings:
    """All lanes of a stack, and what happens to its data when it is destroyed."""

    lanes: tuple[LaneSettings, ...]
    destroy_data: bool = False


@dataclass(kw_only=True)
class _Reader:
    """Reads typed values out of one JSON object and collects the mistakes."""

    path: str
    values: Mapping[str, Any]
    mistakes: list[str] = field(default_factory=list)

    def wrong(self, key: str, problem: str) -> None:
        where = f"{self.path}.{key}" if self.path else key
        self.mistakes.append(f"{where} = {json.dumps(self.values.get(key), ensure_ascii=False)}: {problem}")

    def reject_unknown(self, allowed: list[str]) -> None:
        for key in self.values:
            if key not in allowed:
                self.wrong(key, f"there is no such setting; allowed here: {', '.join(allowed)}")

    def integer(self, key: str, default: int, low: int, high: int) -> int:
        value = self.values.get(key, default)
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"must be a whole number from {low} to {high}")
            return default
        return value

    def text(self, key: str, default: str, longest: int) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or len(value.encode()) > longest:
            self.wrong(key, f"must be text of at most {longest} bytes")
            return default
        return value

    def choice(self, key: str, default: str, allowed: list[str]) -> str:
        value = self.values.get(key, default)
        if value not in allowed:
            self.wrong(key, f"must be one of: {', '.join(allowed)}")
            return default
        return str(value)

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.values.get(key)
        if isinstance(value, str):  # `cdk -c key=…` can only pass text
            with contextlib.suppress(ValueError):
                value = json.loads(value)
        if not isinstance(value, Mapping) or not value:
            self.wrong(key, "must be a JSON object with at least one entry")
            return {}
        return value


def read_stack_settings(context: Mapping[str, Any]) -> StackSettings:
    """Reads and checks the settings.

    Args:
        context: The CDK context, or any mapping with the keys `lanes` and `removal`; other keys are CDK's own
            and ignored.

    Returns:
        The settings of the stack.

    Raises:
        SettingsError: With one line for each mistake.
    """
    reader = _Reader(path="", values=context)
    removal = reader.choice("removal", "retain", ["retain", "destroy"])
    lanes = reader.mapping("lanes")
    if len(lanes) > MAX_LANES:
        reader.mistakes.append(
            f"lanes has {len(lanes)} entries: at most {MAX_LANES} fit in one stack; deploy another stack for more"
        )
    read = [_read_lane(name, values, reader.mistakes) for name, values in lanes.items()]
    if reader.mistakes:
        raise SettingsError(reader.mistakes)
    return StackSettings(lanes=tuple(lane for lane in read if lane), destroy_data=removal == "destroy")


def _read_lane(name: str, values: object, mistakes: list[str]) -> LaneSettings | None:
    if not LANE_NAME.fullmatch(name):
        mistakes.append(
            f"lanes.{name}: a lane's name has lower-case letters, digits and hyphens, starts with a letter, "
            "and is 1 to 32 characters long"
        )
    if not isinstance(values, Mapping):
        mistakes.append(f"lanes.{name} = {json.dumps(values)}: must be a JSON object")
        return None
    reader = _Reader(path=f"lanes.{name}", values=values, mistakes=mistakes)
    reader.reject_unknown([key for key in LaneSettings.__dataclass_fields__ if key != "name"])
    timeout = reader.integer("timeout_seconds", LaneSettings.timeout_seconds, 2, MAX_TIMEOUT_SECONDS)
    heartbeat = reader.integer(
        "heartbeat_seconds", min(LaneSettings.heartbeat_seconds, timeout - 1), 1, MAX_TIMEOUT_SECONDS
    )
    if heartbeat >= timeout:
        reader.wrong("heartbeat_seconds", f"must be less than timeout_seconds, which is {timeout}")
    cool_down = reader.integer("cool_down_seconds", min(heartbeat, MAX_WAIT_SECONDS), 0, MAX_WAIT_SECONDS)
    if cool_down < min(heartbeat, MAX_WAIT_SECONDS):
        reader.wrong(
            "cool_down_seconds",
            f"must be at least heartbeat_seconds, which is {heartbeat}: "
            "a silent backend needs that long to stop itself",
        )
    return LaneSettings(
        name=name,
        backend=_read_backend(reader, heartbeat),
        bucket=_read_bucket(reader),
        prefix=reader.text("prefix", LaneSettings.prefix, 1024),
        suffix=reader.text("suffix", LaneSettings.suffix, 1024),
        timeout_seconds=timeout,
        heartbeat_seconds=heartbeat,
        cool_down_seconds=cool_down,
        retry_seconds=reader.integer("retry_seconds", LaneSettings.retry_seconds, 0, MAX_WAIT_SECONDS),
        max_attempts=reader.integer("max_attempts", LaneSettings.max_attempts, 1, 100),
        min_gap_seconds=reader.integer("min_gap_seconds", LaneSettings.min_gap_seconds, 0, MAX_WAIT_SECONDS),
        on_failure=reader.choice("on_failure", LaneSettings.on_failure, ["park", "halt"]),
    )


def _read_bucket(reader: _Reader) -> str | None:
    bucket = reader.values.get("bucket")
    if bucket is not None and (not isinstance(bucket, str) or not BUCKET_NAME.fullmatch(bucket)):
        reader.wrong("bucket", "must be the name of an existing bucket (3 to 63 characters), or be left out")
        return None
    return bucket


def _read_backend(lane: _Reader, heartbeat: int) -> BackendSettings:
    reader = _Reader(path=f"{lane.path}.backend", values=lane.mapping("backend"), mistakes=lane.mistakes)
    if not reader.values:
        return BackendSettings(url="")
    reader.reject_unknown(list(BackendSettings.__dataclass_fields__))
    url = reader.text("url", "", 1024)
    try:
        parts = urlsplit(url)
        usable = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and parts.port != 0
            and parts.username is None
            and not re.search(r"[\s\x00-\x1f]", url)
        )
    except ValueError:
        usable = False
    if not usable:
        reader.wrong(
            "url", "must be an http or https address with a host and no user name, such as https://host/path"
        )
    answer = reader.integer("answer_timeout_seconds", min(30, heartbeat), 1, 840)
    if answer > heartbeat:
        reader.wrong(
            "answer_timeout_seconds",
            f"must be at most heartbeat_seconds, which is {heartbeat}: nobody beats while the backend is answering",
        )
    return BackendSettings(
        url=url,
        connect_timeout_seconds=reader.integer("connect_timeout_seconds", 5, 1, 60),
        answer_timeout_seconds=answer,
    )
