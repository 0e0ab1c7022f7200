"""The function's environment, read once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KeptLane:
    """What the lane keeper knows of a lane.

    Attributes:
        name: Name of the lane.
        queue_url: Its queue.
        dead_letter_queue_url: Where a job that is out of attempts is parked.
        state_machine_arn: The machine whose runs do its jobs.
        cool_down_seconds: How long after the end of a run whose attempt reported no end the next may start.
        max_attempts: How many attempts a job has.
    """

    name: str
    queue_url: str
    dead_letter_queue_url: str
    state_machine_arn: str
    cool_down_seconds: int
    max_attempts: int


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The environment variables `ONELANE_TABLE_NAME` and `ONELANE_LANES`."""

    table_name: str
    lanes: Mapping[str, KeptLane]

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> "Environment":
        """Reads them.

        Raises:
            KeyError, TypeError: The stack and this code are of different versions.
        """
        lanes = json.loads(variables["ONELANE_LANES"])
        return cls(
            table_name=variables["ONELANE_TABLE_NAME"],
            lanes={name: KeptLane(name=name, **values) for name, values in lanes.items()},
        )
