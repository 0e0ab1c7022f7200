"""A job: what a message becomes when it is read.

The definition reads messages itself (state *Start run*), so that no function stands between the queue and the
run. This module is the same reading in Python, for the lane keeper, the command line and the tests, which hold
the two together.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from onelane.core.errors import MessageUnreadable

#: Length of the readable part of a run name. With the rest a name stays within the 80 characters that AWS allows.
READABLE_LENGTH: Final = 48


@dataclass(frozen=True, kw_only=True)
class S3Object:
    """The object version a job is about, as S3's event describes it; the key is raw, not URL-encoded."""

    bucket: str
    key: str
    version_id: str | None = None
    sequencer: str | None = None
    etag: str | None = None
    size: int | None = None


@dataclass(frozen=True, kw_only=True)
class Job:
    """One job.

    Attributes:
        id: 64 hex characters, the same for the same object version however often S3 says it.
        lane: Name of the lane.
        name: What a person knows it by: the object's key, or `message`.
        queued_at: When the queue accepted the message, epoch seconds.
        object: The object, or None for a message that is no S3 event.
        payload: The message's JSON object, or None for an S3 event.
    """

    id: str
    lane: str
    name: str
    queued_at: float
    object: S3Object | None = None
    payload: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The job as runs and records carry it."""
        value: dict[str, Any] = {
            "id": self.id,
            "lane": self.lane,
            "name": self.name,
            "queued_at": self.queued_at,
        }
        if self.object is not None:
            value["object"] = {key: item for key, item in vars(self.object).items() if item is not None}
        else:
            value["payload"] = dict(self.payload or {})
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Job":
        """Reads what `as_json` wrote.

        Raises:
            MessageUnreadable: A part is missing.
        """
        try:
            item = value.get("object")
            return cls(
                id=str(value["id"]),
                lane=str(value["lane"]),
                name=str(value["name"]),
                queued_at=float(value["queued_at"]),
                object=S3Object(**item) if item is not None else None,
                payload=value.get("payload"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise MessageUnreadable(f"this is not a job: {error!r}") from error


def job_id(*identity: str) -> str:
    """SHA-256 over the parts of an identity, in hex.

    For an object: bucket, key and version id (the sequencer where the bucket has no versions). Only the middle
    part may contain a line break, so two identities never collide.
    """
    return hashlib.sha256("\n".join(identity).encode()).hexdigest()


def read_message(message: Mapping[str, Any], lane: str) -> Job:
    """Reads an SQS message as `ReceiveMessage` returns it, all attributes included.

    Args:
        message: Body, MessageId, Attributes and MessageAttributes.
        lane: The lane it was received for.

    Returns:
        The job.

    Raises:
        MessageUnreadable: The body is no JSON object, or an S3 event without bucket or key.
    """
    body = _read_body(message["Body"])
    bucket = _get(body, "bucket", "name")
    key = _get(body, "object", "key")
    attributes = message["Attributes"]
    queued_at = int(attributes["SentTimestamp"]) / 1000
    redriven = redriven_from(message)
    if bucket is None and key is None:
        deduplication_id = attributes["MessageDeduplicationId"]
        # A content-based id says only that the bodies are equal. SQS takes an equal body for a new message after
        # five minutes, and so do we; an id that the sender chose is the sender's word that it is the same job.
        content_based = hashlib.sha256(message["Body"].encode()).hexdigest() == deduplication_id
        identity = job_id("message", lane, message["MessageId"] if content_based else deduplication_id)
        return Job(
            id=redriven[0] if redriven else identity,
            lane=lane,
            name="message",
            queued_at=queued_at,
            payload=body,
        )
    if not isinstance(bucket, str) or not isinstance(key, str):
        missing = "bucket.name" if key is not None else "object.key"
        raise MessageUnreadable(f"the message looks like an S3 event, but has no {missing}")
    item = S3Object(
        bucket=bucket,
        key=key,
        version_id=_get(body, "object", "version-id"),
        sequencer=_get(body, "object", "sequencer"),
        etag=_get(body, "object", "etag"),
        size=_get(body, "object", "size"),
    )
    identity = job_id(bucket, key, item.version_id or item.sequencer or "")
    return Job(id=redriven[0] if redriven else identity, lane=lane, name=key, queued_at=queued_at, object=item)


def redriven_from(message: Mapping[str, Any]) -> tuple[str, int] | None:
    """Job id and fence that a message got when its job was parked, or None if it never was."""
    attributes = message.get("MessageAttributes", {})
    parked = attributes.get("job_id", {}).get("StringValue", "")
    fence = attributes.get("fence", {}).get("StringValue", "")
    if re.fullmatch(r"[0-9a-f]{64}", parked) and re.fullmatch(r"[0-9]{1,15}", fence):
        return parked, int(fence)
    return None


def run_name(job: Job, suffix: str) -> str:
    """The name of a job's run: readable part of the key, 12 hex of the job id, suffix.

    Only letters, digits, dot, hyphen and underscore are kept: AWS refuses many other characters, and CloudWatch
    has no metrics for a name that isn't ASCII.
    Source: https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
    """
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", job.name)[-READABLE_LENGTH:]
    readable = re.sub(r"^[-.]+|[-.]+$", "", readable)
    return f"{readable or 'job'}-{job.id[:12]}-{suffix}"


def _read_body(body: str) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise MessageUnreadable(f"the message is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise MessageUnreadable("the message is JSON, but not a JSON object")
    return value


def _get(value: Mapping[str, Any], *path: str) -> Any:
    found: Any = value
    for part in path:
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


def message_body(job: Job) -> str:
    """The SQS body that is read as this job again: what a parked job's message says."""
    if job.object is None:
        return json.dumps(job.payload)
    names = {"key": "key", "version_id": "version-id", "sequencer": "sequencer", "etag": "etag", "size": "size"}
    described = {name: getattr(job.object, field) for field, name in names.items()}
    return json.dumps(
        {
            "bucket": {"name": job.object.bucket},
            "object": {name: value for name, value in described.items() if value is not None},
        }
    )
