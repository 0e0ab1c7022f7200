"""A lane on moto: table, queue and dead-letter queue, with a fake Step Functions and a clock that is set."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from lambdas.lane_keeper.environment import KeptLane
from lambdas.lane_keeper.keeper import LaneKeeper
from tests.lambdas.fakes import MACHINE, FakeStepFunctions

NOW = 1_800_000_000.0


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


class TestLane:
    """One lane and its keeper."""

    __test__ = False

    def __init__(self) -> None:
        self.now = NOW
        self.dynamodb = boto3.client("dynamodb")
        self.sqs = boto3.client("sqs")
        self.stepfunctions = FakeStepFunctions()
        self.dynamodb.create_table(
            TableName="lanes",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        self.queue_url = self._queue("lane.fifo")
        self.dead_letter_queue_url = self._queue("parked.fifo")
        self.keeper = LaneKeeper(
            lane=KeptLane(
                name="default",
                queue_url=self.queue_url,
                dead_letter_queue_url=self.dead_letter_queue_url,
                state_machine_arn=MACHINE,
                cool_down_seconds=60,
                max_attempts=3,
            ),
            table_name="lanes",
            dynamodb=self.dynamodb,
            sqs=self.sqs,
            stepfunctions=self.stepfunctions,  # type: ignore[arg-type]  # a fake
            clock=lambda: self.now,
        )

    def _queue(self, name: str) -> str:
        return self.sqs.create_queue(QueueName=name, Attributes={"FifoQueue": "true"})["QueueUrl"]

    def put(self, **attributes: Any) -> None:
        """Writes an item; texts, numbers, booleans and maps of texts."""
        self.dynamodb.put_item(TableName="lanes", Item={name: _typed(value) for name, value in attributes.items()})

    def item(self, key: str) -> dict[str, Any]:
        item = self.dynamodb.get_item(TableName="lanes", Key={"pk": {"S": key}}).get("Item", {})
        return {name: next(iter(value.values())) for name, value in item.items()}

    @property
    def flag(self) -> dict[str, Any]:
        return self.item("lane#default")

    def send(self, body: str = "{}") -> None:
        self.sqs.send_message(
            QueueUrl=self.queue_url, MessageBody=body, MessageGroupId="default", MessageDeduplicationId=str(body)
        )

    def parked(self) -> list[dict[str, Any]]:
        answer = self.sqs.receive_message(
            QueueUrl=self.dead_letter_queue_url, MessageAttributeNames=["All"], MaxNumberOfMessages=10
        )
        return [dict(message) for message in answer.get("Messages", [])]


def _typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int | float):
        return {"N": str(value)}
    if isinstance(value, dict):
        return {"M": {name: _typed(item) for name, item in value.items()}}
    return {"S": value}


@pytest.fixture
def lane() -> Iterator[TestLane]:
    with mock_aws():
        yield TestLane()
