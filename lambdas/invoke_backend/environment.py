"""The function's environment, read once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Backend:
    """Where and how long: from the lane's settings only, never from a message.

    Attributes:
        url: Where jobs are posted.
        connect_timeout_seconds: To wait for a connection.
        answer_timeout_seconds: To wait for the answer.
    """

    url: str
    connect_timeout_seconds: float
    answer_timeout_seconds: float


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The environment variables `ONELANE_TABLE_NAME` and `ONELANE_BACKENDS`."""

    table_name: str
    backends: Mapping[str, Backend]

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "Environment":
        """Reads them.

        Raises:
            KeyError, TypeError: The stack and this code are of different versions.
        """
        backends = json.loads(variables["ONELANE_BACKENDS"])
        return cls(
            table_name=variables["ONELANE_TABLE_NAME"],
            backends={lane: Backend(**values) for lane, values in backends.items()},
        )
