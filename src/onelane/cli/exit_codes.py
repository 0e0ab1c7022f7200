"""Exit codes, and which error means which."""

from enum import IntEnum

from onelane.core.errors import NothingThere, OneLaneError, RefusedByState, SettingsError, TimedOut


class ExitCode(IntEnum):
    """What a command's exit says."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING_THERE = 3
    TIMED_OUT = 4
    REFUSED = 5
    INTERRUPTED = 130


_CODES: dict[type[OneLaneError], ExitCode] = {
    SettingsError: ExitCode.USAGE,
    NothingThere: ExitCode.NOTHING_THERE,
    TimedOut: ExitCode.TIMED_OUT,
    RefusedByState: ExitCode.REFUSED,
}


def exit_code_of(error: Exception) -> ExitCode:
    """The exit code that an error stands for; FAILED where nothing else is known."""
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), ExitCode.FAILED)
