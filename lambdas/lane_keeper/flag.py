"""Reads and conditional writes of the busy flag and the job records.

Every write names what it saw. If somebody was faster it changes nothing and says so, which is why the lane
keeper may run at any moment, twice, or late.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from onelane.core import table
from onelane.core.lane import JobRecord, Lane

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

#: Nothing was written, because the condition no longer holds or another transaction was under way.
REFUSED = frozenset({"ConditionalCheckFailedException", "TransactionCanceledException"})
HELD_AS_SEEN = "holder = :holder AND fence = :fence"
FREE_AS_SEEN = "attribute_not_exists(holder) AND fence = :fence"


class Flag:
    """The busy flag of one lane."""

    def __init__(self, *, dynamodb: "DynamoDBClient", table_name: str, lane: str, clock: Callable[[], float]) -> None:
        self._dynamodb = dynamodb
        self._clock = clock
        self._table_name = table_name
        self._lane = lane

    def read(self) -> Lane:
        """The flag, read consistently."""
        return Lane.from_item(self._lane, self._get(table.lane_key(self._lane)))

    def record(self, job_id: str) -> JobRecord | None:
        """A job's record, read consistently; None if there is none."""
        item = self._get(table.job_key(job_id))
        return JobRecord.from_item(item) if item else None

    def set_wake(self) -> bool:
        """Tells the holder that somebody came; False if nobody holds the lane."""
        return self._update("SET wake = :true", "attribute_exists(holder)", {":true": {"BOOL": True}})

    def release(self, seen: Lane) -> bool:
        """Frees a lane whose holder is dead and had no job."""
        return self._update(
            "REMOVE holder, wake, since",
            f"{HELD_AS_SEEN} AND attribute_not_exists(job_id)",
            self._as_seen(seen),
        )

    def leave_job_in_front(self, seen: Lane, *, not_before: int) -> bool:
        """Frees a lane whose holder died with a job: the job stays in front, and waits until `not_before`."""
        return self._update(
            "SET not_before = :not_before REMOVE holder, lease_until",
            f"{HELD_AS_SEEN} AND job_id = :job",
            {
                **self._as_seen(seen),
                ":job": {"S": str(seen.job_id)},
                ":not_before": {"N": str(max(not_before, seen.not_before))},
            },
        )

    def forget_job(self, seen: Lane) -> bool:
        """Takes a job that has ended, or has no record, from the front of the lane."""
        holding = HELD_AS_SEEN if seen.holder else FREE_AS_SEEN
        return self._update(
            "REMOVE holder, job_id, lease_until",
            f"{holding} AND job_id = :job",
            {**self._as_seen(seen), ":job": {"S": str(seen.job_id)}},
        )

    def settle(self, seen: Lane, record: JobRecord, status: str, **attributes: str) -> bool:
        """Ends the job in front and takes it from the lane, in one transaction.

        Args:
            seen: The flag as it was read.
            record: The job's record as it was read, still RUNNING.
            status: SUCCEEDED or PARKED.
            **attributes: Texts to write into the record, such as result, error and cause.
        """
        names = {f"#{name}": name for name in ("status", *attributes)}
        values = {f":{name}": {"S": text} for name, text in attributes.items()}
        assignments = ", ".join(f"#{name} = :{name}" for name in ("status", *attributes))
        holding = HELD_AS_SEEN if seen.holder else FREE_AS_SEEN
        try:
            self._dynamodb.transact_write_items(
                TransactItems=[
                    {
                        "Update": {
                            "TableName": self._table_name,
                            "Key": {table.KEY: {"S": table.lane_key(self._lane)}},
                            "UpdateExpression": "REMOVE holder, job_id, lease_until",
                            "ConditionExpression": f"{holding} AND job_id = :job",
                            "ExpressionAttributeValues": {
                                **self._as_seen(seen),
                                ":job": {"S": record.job_id},
                            },
                        }
                    },
                    {
                        "Update": {
                            "TableName": self._table_name,
                            "Key": {table.KEY: {"S": table.job_key(record.job_id)}},
                            "UpdateExpression": f"SET {assignments}, ended_at = :now, expires_at = :expires",
                            "ConditionExpression": "fence = :fence AND #status = :running",
                            "ExpressionAttributeNames": names,
                            "ExpressionAttributeValues": {
                                **values,
                                ":status": {"S": status},
                                ":running": {"S": "RUNNING"},
                                ":fence": {"N": str(record.fence)},
                                ":now": {"N": f"{self._clock():.3f}"},
                                ":expires": {"N": str(int(self._clock()) + table.RECORD_SECONDS)},
                            },
                        }
                    },
                ]
            )
        except ClientError as error:
            return _refused(error)
        return True

    def _as_seen(self, seen: Lane) -> dict[str, Any]:
        values: dict[str, Any] = {":fence": {"N": str(seen.fence)}}
        if seen.holder:
            values[":holder"] = {"S": seen.holder}
        return values

    def _get(self, key: str) -> dict[str, Any]:
        answer = self._dynamodb.get_item(TableName=self._table_name, Key={table.KEY: {"S": key}}, ConsistentRead=True)
        return dict(answer.get("Item", {}))

    def _update(self, update: str, condition: str, values: dict[str, Any]) -> bool:
        try:
            self._dynamodb.update_item(
                TableName=self._table_name,
                Key={table.KEY: {"S": table.lane_key(self._lane)}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
            )
        except ClientError as error:
            return _refused(error)
        return True


def _refused(error: ClientError) -> bool:
    """False where the write was refused; any other error is raised again."""
    if error.response["Error"]["Code"] not in REFUSED:
        raise error
    return False
