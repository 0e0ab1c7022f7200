# ruff: noqa: N803 - the arguments have the names that boto3 gives them
"""A Step Functions that only remembers: what the lane keeper and the backend function ask of it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

MACHINE = "arn:aws:states:us-east-1:000000000000:stateMachine:OneLane-default"


def run_arn(name: str) -> str:
    return f"{MACHINE.replace(':stateMachine:', ':execution:')}:{name}"


class FakeStepFunctions:
    """Runs by ARN, with AWS's rules for names: same name and input while running is the same run."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, Any]] = {}
        self.histories: dict[str, list[dict[str, Any]]] = {}
        self.answers: list[tuple[str, str]] = []
        self.refuse_answers_with: str | None = None

    def add(self, name: str, status: str = "RUNNING", *, ended_at: float = 0, output: Any = None) -> str:
        arn = run_arn(name)
        self.runs[arn] = {"status": status, "input": "{}", "name": name}
        if status != "RUNNING":
            self.runs[arn]["stopDate"] = datetime.fromtimestamp(ended_at, UTC)
        if output is not None:
            self.runs[arn]["output"] = json.dumps(output)
        return arn

    def started(self) -> dict[str, Any]:
        """Inputs of the runs that were started through the API, by name."""
        return {run["name"]: json.loads(run["input"]) for run in self.runs.values() if run.get("started")}

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> dict[str, str]:  # noqa: A002
        assert stateMachineArn == MACHINE
        arn = run_arn(name)
        known = self.runs.get(arn)
        if known and not (known["status"] == "RUNNING" and known["input"] == input):
            raise _error("ExecutionAlreadyExists", "StartExecution")
        self.runs.setdefault(arn, {"status": "RUNNING", "input": input, "name": name, "started": True})
        return {"executionArn": arn}

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:
        if executionArn not in self.runs:
            raise _error("ExecutionDoesNotExist", "DescribeExecution")
        return self.runs[executionArn]

    def get_paginator(self, operation: str) -> "_Pages":
        assert operation == "get_execution_history"
        return _Pages(self.histories)

    def send_task_success(self, *, taskToken: str, output: str) -> None:
        if self.refuse_answers_with:
            raise _error(self.refuse_answers_with, "SendTaskSuccess")
        self.answers.append((taskToken, output))


class _Pages:
    def __init__(self, histories: dict[str, list[dict[str, Any]]]) -> None:
        self._histories = histories

    def paginate(
        self,
        *,
        executionArn: str,
        reverseOrder: bool,
        includeExecutionData: bool,
    ) -> Iterator[dict[str, Any]]:
        assert includeExecutionData
        assert reverseOrder
        if executionArn not in self._histories:
            raise _error("ExecutionDoesNotExist", "GetExecutionHistory")
        events = self._histories[executionArn][::-1]
        for start in range(0, len(events), 2):  # small pages, so that paging is tried
            yield {"events": events[start : start + 2]}


def _error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)
