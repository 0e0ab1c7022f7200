"""The busy flag and the job records as the table holds them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from onelane.core.job import Job

#: A DynamoDB item in the low-level form, `{"name": {"S": "text"}}`.
Item = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A lane's busy flag.

    Attributes:
        name: Name of the lane.
        holder: ARN of the run that holds the lane, or None when it is free.
        job_id: The unfinished job in front, or None.
        fence: Fencing number of the last claim; 0 before the first. It only grows.
        since: When holder or job last changed, epoch seconds; 0 if never.
        lease_until: When the attempt must be over, epoch seconds; 0 if none.
        not_before: No attempt starts before it, epoch seconds; 0 if never set.
        wake: Somebody came while the lane was held.
        paused: Why, by whom and since when no job starts, or None.
    """

    name: str
    holder: str | None = None
    job_id: str | None = None
    fence: int = 0
    since: int = 0
    lease_until: int = 0
    not_before: int = 0
    wake: bool = False
    paused: Mapping[str, Any] | None = None

    @classmethod
    def from_item(cls, name: str, item: Item) -> Self:
        """Reads the flag; an empty item is a lane that was never used."""
        return cls(
            name=name,
            holder=_text(item, "holder"),
            job_id=_text(item, "job_id"),
            fence=int(_number(item, "fence")),
            since=int(_number(item, "since")),
            lease_until=int(_number(item, "lease_until")),
            not_before=int(_number(item, "not_before")),
            wake=bool(item.get("wake", {}).get("BOOL", False)),
            paused={key: next(iter(value.values())) for key, value in item["paused"]["M"].items()}
            if "paused" in item
            else None,
        )


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """A job's record.

    Attributes:
        job_id: The job's id.
        status: RUNNING, SUCCEEDED, FAILED, PARKED or CANCELLED.
        job: The job, or None for a parked message that could not be read.
        name: What a person knows it by.
        attempt: Number of the latest attempt, from 1; 0 for an unreadable message.
        fence: Fencing number of the latest attempt.
        run: ARN of the run of the latest attempt.
        receipt_handle: Of the message that the job came with.
        error: Error name of the latest failed attempt, or an empty text.
        cause: What it said.
    """

    job_id: str
    status: str
    job: Job | None
    name: str
    attempt: int
    fence: int
    run: str
    receipt_handle: str
    error: str
    cause: str

    @classmethod
    def from_item(cls, item: Item) -> Self:
        """Reads a record that exists."""
        body = _text(item, "job")
        return cls(
            job_id=item["pk"]["S"].partition("#")[2],
            status=item["status"]["S"],
            job=Job.from_json(json.loads(body)) if body else None,
            name=_text(item, "name") or "",
            attempt=int(_number(item, "attempt")),
            fence=int(_number(item, "fence")),
            run=_text(item, "run") or "",
            receipt_handle=_text(item, "receipt_handle") or "",
            error=_text(item, "error") or "",
            cause=_text(item, "cause") or "",
        )


def _text(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _number(item: Item, name: str) -> float:
    return float(item[name]["N"]) if name in item else 0
