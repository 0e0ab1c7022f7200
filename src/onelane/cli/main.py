"""Entry point of `onelane`.

Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing to talk to,
4 timed out, 5 refused by the state of things, 130 interrupted. A traceback is printed only with `--debug`.
"""

import importlib
import sys
from collections.abc import Sequence

import click

from onelane import __version__
from onelane.cli.exit_codes import ExitCode, exit_code_of

#: Command name → module and object. Modules are loaded when their command is called, so `--help` stays quick.
COMMANDS = {
    "demo": ("onelane.cli.demo", "demo", "Run the main job on this machine and measure it."),
    "local": ("onelane.cli.local", "local", "The embedded AWS with the stack deployed into it."),
}


class _LazyGroup(click.Group):
    """Loads a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in sorted(COMMANDS.items())])


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Print a traceback where something fails.")
@click.version_option(__version__, prog_name="onelane")
def onelane(debug: bool) -> None:
    """One backend, one job at a time, in order."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Returns:
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        result = onelane.main(args=given, prog_name="onelane", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)  # noqa: T201
        return ExitCode.INTERRUPTED
    except Exception as error:
        if "--debug" in given:
            raise
        print(f"onelane: {error}", file=sys.stderr)  # noqa: T201
        return exit_code_of(error)
    return result if isinstance(result, int) else ExitCode.DONE
