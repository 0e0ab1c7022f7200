"""The HTTP side: one POST, and what each answer means."""

import json
from collections.abc import Mapping
from typing import Any, Final

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from lambdas.invoke_backend.environment import Backend
from onelane.core.errors import BackendBusy, BackendFailed, BackendRejected, BackendUnanswered

#: The largest output that SendTaskSuccess takes, in bytes of UTF-8.
#: Source: botocore's model of Step Functions, shape SensitiveData
MAX_ANSWER_BYTES: Final = 262_144
#: How much of a refusing backend's answer becomes the cause, in characters.
MAX_CAUSE: Final = 1000
ACCEPTED: Final = 202
BUSY: Final = frozenset({429, 503})


def post_job(pool: urllib3.PoolManager, backend: Backend, job: Mapping[str, Any]) -> str | None:
    """Posts a job once; nothing is retried here and no redirect is followed.

    Args:
        pool: Connections to reuse.
        backend: Where to.
        job: What the run hands over, task token included.

    Returns:
        The result (JSON text) of a backend that is done (any 2xx but 202), or None where it has accepted the job
        (202) and will answer with the task token.

    Raises:
        BackendBusy: 429 or 503; the job did not start.
        BackendRejected: Any other 4xx, or a redirect.
        BackendFailed: The connection could not be made, so the job did not start.
        BackendUnanswered: 5xx, no answer in time, or one that is too large or no JSON; it may have started.
    """
    try:
        answer = pool.request(
            "POST",
            backend.url,
            body=json.dumps(with_s3_url(job)).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "onelane"},
            timeout=urllib3.Timeout(connect=backend.connect_timeout_seconds, read=backend.answer_timeout_seconds),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        body = answer.read(MAX_ANSWER_BYTES + 1)
        answer.release_conn() if len(body) <= MAX_ANSWER_BYTES else answer.close()
    except (NewConnectionError, ConnectTimeoutError) as error:
        raise BackendFailed(f"no connection to {backend.url}: {_reason(error)}") from None
    except (HTTPError, OSError) as error:
        raise BackendUnanswered(f"no answer from {backend.url}: {_reason(error)}") from None
    return _meaning(answer.status, body, backend.url)


def with_s3_url(job: Mapping[str, Any]) -> dict[str, Any]:
    """The posted body: what the run hands over, and the object's address where there is an object."""
    item = job["job"].get("object")
    return {**job, "s3_url": f"s3://{item['bucket']}/{item['key']}"} if item else dict(job)


def _meaning(status: int, body: bytes, url: str) -> str | None:
    if status == ACCEPTED:
        return None
    said = body.decode("utf-8", "replace")[:MAX_CAUSE]
    if 200 <= status < 300:
        return _result(body, url)
    if status in BUSY:
        raise BackendBusy(f"{url} answered {status}: {said}")
    if status >= 500:
        raise BackendUnanswered(f"{url} answered {status}: {said}")
    if 300 <= status < 400:
        raise BackendRejected(
            f"{url} answered {status}: redirects are not followed; put the final address into the settings"
        )
    raise BackendRejected(f"{url} answered {status}: {said}")


def _result(body: bytes, url: str) -> str:
    if len(body) > MAX_ANSWER_BYTES:
        raise BackendUnanswered(
            f"{url} answered with more than {MAX_ANSWER_BYTES} bytes; answer with a pointer to the result"
        )
    try:
        text = body.decode() or "null"
        json.loads(text)
    except ValueError:
        raise BackendUnanswered(f"{url} answered, but not with JSON") from None
    return text


def _reason(error: Exception) -> str:
    return str(error).rpartition(": ")[2][:MAX_CAUSE] or type(error).__name__
