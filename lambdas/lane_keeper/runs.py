"""What Step Functions knows of a run, and starting one."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

#: DescribeExecution is eventually consistent, so a run that has just taken the lane may not be known yet.
#: Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
UNKNOWN_IS_DEAD_AFTER_SECONDS: Final = 300
#: The state whose success is the job's success; its name in the definition.
INVOKE_STATE: Final = "Invoke backend"


@dataclass(frozen=True, kw_only=True)
class Life:
    """Whether a run lives; `ended_at` (epoch seconds) and `status` are those of a dead one."""

    alive: bool
    ended_at: float = 0
    status: str = ""


class Runs:
    """The runs of one state machine."""

    def __init__(self, *, stepfunctions: "SFNClient", state_machine_arn: str, clock: Callable[[], float]) -> None:
        self._stepfunctions = stepfunctions
        self._state_machine_arn = state_machine_arn
        self._clock = clock

    def life(self, run: str, *, since: float) -> Life:
        """Whether a holder is alive. A run that ended by starting the next is as alive as the next one.

        Args:
            run: The holder's ARN.
            since: When the flag last changed, epoch seconds.
        """
        described = self._describe(run)
        if described is None:
            return Life(alive=self._clock() - since < UNKNOWN_IS_DEAD_AFTER_SECONDS, ended_at=since)
        if described["status"] == "SUCCEEDED":
            successor = _next_run(described.get("output"))
            next_described = self._describe(successor) if successor else None
            if next_described is not None and next_described["status"] == "RUNNING":
                return Life(alive=True)
        return _life(described)

    def outcome(self, run: str) -> str | None:
        """The backend's answer as the history of a dead run has it (JSON text), or None if it has none.

        A run that dies between the answer and its recording leaves the job done and the record unfinished; its
        job must not be done again.
        """
        answer: str | None = None
        pages = self._stepfunctions.get_paginator("get_execution_history").paginate(
            executionArn=run, reverseOrder=True, includeExecutionData=True
        )
        try:
            for event in (event for page in pages for event in page["events"]):
                succeeded = event.get("taskSucceededEventDetails")
                entered = event.get("stateEnteredEventDetails")
                if succeeded and "invoke" in succeeded["resource"]:
                    answer = succeeded.get("output")
                elif entered and entered["name"] == INVOKE_STATE:
                    # Read backwards, so this is the latest attempt, answered or not.
                    return answer
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
        return None

    def start(self, name: str, run_input: dict[str, Any]) -> bool:
        """Starts a run; repeating it is harmless while that run lives.

        Returns:
            False if a run of this name has ended, and nothing was started.
        """
        try:
            self._stepfunctions.start_execution(
                stateMachineArn=self._state_machine_arn, name=name, input=json.dumps(run_input, sort_keys=True)
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
                raise
            described = self._describe(self.arn(name))
            return described is not None and described["status"] == "RUNNING"
        return True

    def arn(self, name: str) -> str:
        """The ARN of the run of this name."""
        return f"{self._state_machine_arn.replace(':stateMachine:', ':execution:', 1)}:{name}"

    def _describe(self, run: str) -> dict[str, Any] | None:
        try:
            return dict(self._stepfunctions.describe_execution(executionArn=run))
        except ClientError as error:
            if error.response["Error"]["Code"] != "ExecutionDoesNotExist":
                raise
            return None


def _life(described: dict[str, Any]) -> Life:
    if described["status"] in ("RUNNING", "PENDING_REDRIVE"):
        return Life(alive=True)
    return Life(alive=False, ended_at=described["stopDate"].timestamp(), status=described["status"])


def _next_run(output: str | None) -> str | None:
    try:
        value = json.loads(output or "{}")
    except ValueError:
        return None
    found = value.get("next_run") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
