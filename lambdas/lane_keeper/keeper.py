"""Decides what a lane needs, and does it by conditional writes and named runs only."""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from lambdas.lane_keeper.environment import KeptLane
from lambdas.lane_keeper.flag import Flag
from lambdas.lane_keeper.runs import Runs
from onelane.core.job import message_body, run_name
from onelane.core.lane import JobRecord, Lane

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

WAKE_PREFIX: Final = "wake-"
#: Resume runs of one attempt that may die before they claim; each has a name of its own.
MAX_RESUMES: Final = 100
#: The longest cause that a parked message carries, in characters; the record has all of it.
MAX_PARKED_CAUSE: Final = 1000


class Cause(StrEnum):
    """Why the lane keeper was called."""

    OBJECT_CREATED = "object_created"
    RUN_ENDED = "run_ended"
    SWEEP = "sweep"
    OPERATOR = "operator"


class LaneKeeper:
    """Keeps one lane moving. Every call may be repeated, come late, or run beside another."""

    def __init__(
        self,
        *,
        lane: KeptLane,
        table_name: str,
        dynamodb: "DynamoDBClient",
        sqs: "SQSClient",
        stepfunctions: "SFNClient",
        clock: Callable[[], float],
    ) -> None:
        self._lane = lane
        self._sqs = sqs
        self._clock = clock
        self._flag = Flag(dynamodb=dynamodb, table_name=table_name, lane=lane.name, clock=clock)
        self._runs = Runs(stepfunctions=stepfunctions, state_machine_arn=lane.state_machine_arn, clock=clock)

    def keep(self, cause: Cause, run: str | None = None) -> list[str]:
        """Gives the lane what it needs now.

        Args:
            cause: Why this call was made.
            run: ARN of the run that ended, with RUN_ENDED.

        Returns:
            What was done, a phrase each; empty where nothing was needed.
        """
        done: list[str] = []
        seen = self._flag.read()
        if seen.holder and cause is Cause.OBJECT_CREATED:
            # A hint comes with every upload: one write tells the holder. The sweep looks after a dead holder.
            if self._flag.set_wake():
                return ["wake set"]
            seen = self._flag.read()
        if seen.holder:
            phrase = self._recover(seen)
            if phrase is None:
                return done
            done.append(phrase)
            seen = self._flag.read()
        if seen.holder or seen.paused:
            return done
        if seen.job_id:
            done.append(self._resume(seen, cause))
            seen = self._flag.read()
            if seen.holder or seen.job_id or seen.paused:
                return done
        if self._work_waits(cause, run):
            # Twenty hints in one second have one name between them, so they start one run.
            self._runs.start(f"{WAKE_PREFIX}{self._lane.name}-{int(self._clock())}", {})
            done.append("wake run started")
        return done

    def _recover(self, seen: Lane) -> str | None:
        """Frees the lane of a dead holder, or settles its job. None: the holder lives, or somebody was faster."""
        holder = seen.holder or ""
        life = self._runs.life(holder, since=seen.since)
        if life.alive:
            return None
        if not seen.job_id:
            return "lane freed of a dead run" if self._flag.release(seen) else None
        record = self._flag.record(seen.job_id)
        if record is None or record.status != "RUNNING":
            return "ended job taken from the front" if self._flag.forget_job(seen) else None
        result = self._runs.outcome(record.run)
        if result is not None:
            done = self._flag.settle(seen, record, "SUCCEEDED", result=result)
            return "finished job of a dead run recorded" if done else None
        not_before = int(life.ended_at) + self._lane.cool_down_seconds
        return (
            "lane freed of a dead run, its job left in front"
            if self._flag.leave_job_in_front(seen, not_before=not_before)
            else None
        )

    def _resume(self, seen: Lane, cause: Cause) -> str:
        """Starts the next attempt of the unfinished job in front, or parks it where none is left."""
        record = self._flag.record(seen.job_id or "")
        if record is None or record.status != "RUNNING" or record.job is None:
            self._flag.forget_job(seen)
            return "ended job taken from the front"
        if record.attempt >= self._lane.max_attempts:
            return self._park(seen, record)
        run_input: dict[str, Any] = {
            "job": record.job.as_json(),
            "receipt_handle": record.receipt_handle,
            "opener": "none",
            "fence": seen.fence,
            "attempt": record.attempt + 1,
            "previous": {"status": record.status, "fence": record.fence},
        }
        for number in range(1, MAX_RESUMES + 1):
            if self._runs.start(run_name(record.job, f"f{seen.fence}-{number}"), run_input):
                return f"job resumed, attempt {record.attempt + 1}"
            if cause is not Cause.SWEEP:
                # A resume run that died before its claim would die again at once: the next sweep tries.
                return "job left to the next sweep"
        return "job could not be resumed"

    def _park(self, seen: Lane, record: JobRecord) -> str:
        error = record.error or "RunDied"
        cause = record.cause or f"run {record.run} ended without an outcome in attempt {record.attempt}"
        attributes = {
            "job_id": record.job_id,
            "error": error,
            "cause": cause[:MAX_PARKED_CAUSE],
            "run": record.run,
            "attempts": str(record.attempt),
            "fence": str(record.fence),
        }
        assert record.job is not None  # noqa: S101 - the caller has looked
        self._sqs.send_message(
            QueueUrl=self._lane.dead_letter_queue_url,
            MessageBody=message_body(record.job),
            MessageGroupId=self._lane.name,
            MessageDeduplicationId=f"{record.job_id}-{record.fence}",
            MessageAttributes={
                name: {"DataType": "String", "StringValue": text} for name, text in attributes.items()
            },
        )
        self._flag.settle(seen, record, "PARKED", error=error, cause=cause)
        return f"job parked after {record.attempt} attempts"

    def _work_waits(self, cause: Cause, run: str | None) -> bool:
        if cause is Cause.OBJECT_CREATED:
            return True  # the message may come after the hint: the wake run's long poll waits for it
        if cause is Cause.RUN_ENDED and (run or "").rpartition(":")[2].startswith(WAKE_PREFIX):
            return False  # a wake run that fails would fail again at once: the next sweep tries
        attributes = self._sqs.get_queue_attributes(
            QueueUrl=self._lane.queue_url, AttributeNames=["ApproximateNumberOfMessages"]
        )["Attributes"]
        return int(attributes["ApproximateNumberOfMessages"]) > 0
