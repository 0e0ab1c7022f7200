"""The table: its key, its index and its attribute names, in one place.

The definition (`statemachine/serial.asl.json`) writes the same names; a test compares the two.
"""

from typing import Final

KEY: Final = "pk"
LANE_KEY_PREFIX: Final = "lane#"
JOB_KEY_PREFIX: Final = "job#"

#: The index that lists a lane's jobs by the time they started.
JOBS_BY_LANE_INDEX: Final = "jobs_by_lane"
JOBS_BY_LANE_PARTITION: Final = "lane"
JOBS_BY_LANE_SORT: Final = "started_at"

#: Epoch seconds; DynamoDB deletes ended records some time after it. It never decides who holds a lane.
TIME_TO_LIVE: Final = "expires_at"

#: How long an ended job's record is kept: as long as AWS reserves the name of its run.
#: Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
RECORD_SECONDS: Final = 90 * 24 * 3600

LANE_ATTRIBUTES: Final = frozenset(
    {"pk", "holder", "job_id", "fence", "since", "lease_until", "not_before", "wake", "paused"}
)
JOB_ATTRIBUTES: Final = frozenset(
    {
        "pk",
        "lane",
        "status",
        "name",
        "job",
        "attempt",
        "fence",
        "run",
        "receipt_handle",
        "received_at",
        "started_at",
        "ended_at",
        "result",
        "error",
        "cause",
        "expires_at",
        # Written by the SDK with each heartbeat, never by the definition.
        "heartbeat_at",
        "progress",
        "progress_text",
    }
)


def lane_key(lane: str) -> str:
    """The key of a lane's busy flag."""
    return LANE_KEY_PREFIX + lane


def job_key(job_id: str) -> str:
    """The key of a job's record."""
    return JOB_KEY_PREFIX + job_id
