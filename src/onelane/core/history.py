"""What a run's history says: the path it took and what it cost."""

from collections.abc import Iterable, Mapping
from typing import Any


def path(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the states a run entered, in order."""
    return [event["stateEnteredEventDetails"]["name"] for event in events if "stateEnteredEventDetails" in event]


def paid_transitions(events: Iterable[Mapping[str, Any]]) -> int:
    """The state transitions that a Standard run is billed for: each state entered, and each retry.

    Source: https://aws.amazon.com/step-functions/pricing/ (a retry counts as an additional transition)
    """
    transitions = 0
    scheduled_in_state = 0
    for event in events:
        if event["type"].endswith("StateEntered"):
            transitions += 1
            scheduled_in_state = 0
        elif event["type"] in ("TaskScheduled", "ActivityScheduled", "LambdaFunctionScheduled"):
            scheduled_in_state += 1
            if scheduled_in_state > 1:
                transitions += 1
    return transitions
