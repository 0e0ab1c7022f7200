"""What each answer of an HTTP backend means, against a real server on this machine."""

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from lambdas.invoke_backend.environment import Backend
from lambdas.invoke_backend.post import MAX_ANSWER_BYTES, post_job, with_s3_url
from onelane.core.errors import BackendBusy, BackendFailed, BackendRejected, BackendUnanswered

JOB: dict[str, Any] = {
    "lane": "default",
    "task_token": "secret+token/==",
    "job": {"id": "a" * 64, "object": {"bucket": "files", "key": "in/é +%.csv"}},
    "attempt": 1,
    "fence": 4,
}


class ScriptedBackend:
    """Answers each POST with what it is told to, and remembers what was posted."""

    def __init__(self) -> None:
        self.answer: tuple[int, bytes] | None = (202, b"")
        self.headers: dict[str, str] = {}
        self.posted: list[dict[str, Any]] = []
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                backend.posted.append(json.loads(body))
                if backend.answer is None:  # the connection breaks after the job was read
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, said = backend.answer
                self.send_response(status)
                for name, value in backend.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/process-task"


@pytest.fixture
def backend() -> Iterator[ScriptedBackend]:
    scripted = ScriptedBackend()
    thread = threading.Thread(target=scripted.server.serve_forever)
    thread.start()
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()
    thread.join()


def post(url: str, answer_timeout_seconds: float = 5) -> str | None:
    settings = Backend(url=url, connect_timeout_seconds=5, answer_timeout_seconds=answer_timeout_seconds)
    with urllib3.PoolManager() as pool:
        return post_job(pool, settings, JOB)


def test_the_backend_gets_the_job_the_token_and_the_address_of_the_object(backend: ScriptedBackend) -> None:
    post(backend.url)
    assert backend.posted == [{**JOB, "s3_url": "s3://files/in/é +%.csv"}]


def test_a_job_without_an_object_has_no_address() -> None:
    job = {**JOB, "job": {"id": "a", "payload": {"s3_url": "http://elsewhere"}}}
    assert "s3_url" not in with_s3_url(job)


def test_202_means_that_the_backend_answers_later(backend: ScriptedBackend) -> None:
    assert post(backend.url) is None


@pytest.mark.parametrize(("body", "result"), [(b'{"status": "completed"}', '{"status": "completed"}'), (b"", "null")])
def test_200_means_done_and_its_body_is_the_result(backend: ScriptedBackend, body: bytes, result: str) -> None:
    backend.answer = (200, body)
    assert post(backend.url) == result


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (503, BackendBusy),
        (429, BackendBusy),
        (400, BackendRejected),
        (404, BackendRejected),
        (409, BackendRejected),
        (301, BackendRejected),
        (307, BackendRejected),
        (500, BackendUnanswered),
        (502, BackendUnanswered),
    ],
)
def test_each_refusal_has_its_error_with_the_backends_words(
    backend: ScriptedBackend, status: int, error: type[Exception]
) -> None:
    backend.answer = (status, b'{"error": "words"}')
    backend.headers = {"Location": "http://127.0.0.1:1/elsewhere"}
    with pytest.raises(error, match=f"answered {status}"):
        post(backend.url)
    assert len(backend.posted) == 1, "nothing is retried, no redirect is followed"


def test_an_answer_that_is_no_json_leaves_the_outcome_open(backend: ScriptedBackend) -> None:
    backend.answer = (200, b"<html>fine</html>")
    with pytest.raises(BackendUnanswered, match="not with JSON"):
        post(backend.url)


def test_an_answer_larger_than_a_result_may_be_is_not_read_to_the_end(backend: ScriptedBackend) -> None:
    backend.answer = (200, b'"' + b"x" * MAX_ANSWER_BYTES + b'"')
    with pytest.raises(BackendUnanswered, match=str(MAX_ANSWER_BYTES)):
        post(backend.url)


def test_a_broken_connection_leaves_the_outcome_open(backend: ScriptedBackend) -> None:
    backend.answer = None
    with pytest.raises(BackendUnanswered, match="no answer"):
        post(backend.url)
    assert len(backend.posted) == 1


def test_a_silent_backend_leaves_the_outcome_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(BackendUnanswered, match="no answer"):
        post(f"http://127.0.0.1:{listener.getsockname()[1]}/", answer_timeout_seconds=0.2)


def test_a_refused_connection_means_that_the_job_did_not_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BackendFailed, match="no connection") as caught:
        post(f"http://127.0.0.1:{port}/")
    assert "secret" not in str(caught.value)
