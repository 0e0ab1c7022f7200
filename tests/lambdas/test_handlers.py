"""The two functions as AWS calls them."""

import importlib
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from onelane.core.errors import BackendBusy, BackendUnanswered, LaneLost, OneLaneError
from tests.lambdas.conftest import TestLane
from tests.lambdas.fakes import MACHINE, run_arn

TOKEN = "AQCEAAAAKgAAAAMAAAAAAAAAAWsecret+token/=="
CONTEXT = SimpleNamespace(
    function_name="function",
    memory_limit_in_mb=256,
    invoked_function_arn="arn:aws:lambda:us-east-1:000000000000:function:function",
    aws_request_id="request",
)


def load(name: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> ModuleType:
    """The handler module, loaded as a new Lambda sandbox does."""
    for variable, value in {
        "POWERTOOLS_SERVICE_NAME": name,
        "POWERTOOLS_METRICS_NAMESPACE": "OneLane",
        **variables,
    }.items():
        monkeypatch.setenv(variable, value)
    sys.modules.pop(f"lambdas.{name}.handler", None)
    return importlib.import_module(f"lambdas.{name}.handler")


@pytest.fixture
def keeper(lane: TestLane, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    settings = {
        "queue_url": lane.queue_url,
        "dead_letter_queue_url": lane.dead_letter_queue_url,
        "state_machine_arn": MACHINE,
        "cool_down_seconds": 60,
        "max_attempts": 3,
    }
    lanes = json.dumps(
        {"broken": {**settings, "queue_url": "https://sqs.us-east-1.amazonaws.com/0/none"}, "default": settings}
    )
    module = load("lane_keeper", monkeypatch, ONELANE_TABLE_NAME="lanes", ONELANE_LANES=lanes)
    monkeypatch.setattr(module, "_stepfunctions", lane.stepfunctions)
    return module


@pytest.fixture
def invoke(lane: TestLane, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    backends = json.dumps(
        {"default": {"url": "http://127.0.0.1:1/", "connect_timeout_seconds": 1, "answer_timeout_seconds": 1}}
    )
    module = load("invoke_backend", monkeypatch, ONELANE_TABLE_NAME="lanes", ONELANE_BACKENDS=backends)
    monkeypatch.setattr(module, "_stepfunctions", lane.stepfunctions)
    lane.put(pk="lane#default", fence=7, holder=run_arn("report"), job_id="a" * 64)
    return module


def handed_over(**changes: Any) -> dict[str, Any]:
    job = {"id": "a" * 64, "lane": "default", "name": "secret name.csv", "payload": {"password": "hunter2"}}
    return {
        "lane": "default",
        "task_token": TOKEN,
        "run": run_arn("report"),
        "job": job,
        "attempt": 1,
        "fence": 7,
        **changes,
    }


def test_one_lane_that_fails_does_not_keep_the_others_from_being_kept(keeper: ModuleType, lane: TestLane) -> None:
    lane.send()
    with pytest.raises(OneLaneError, match="could not keep broken"):
        keeper.handle({"cause": "sweep"}, CONTEXT)
    assert len(lane.stepfunctions.started()) == 1


def test_a_call_for_one_lane_keeps_only_that_lane(keeper: ModuleType) -> None:
    assert keeper.handle({"cause": "object_created", "lane": "default"}, CONTEXT) == {"default": ["wake run started"]}


def test_an_accepted_job_is_answered_by_the_backend(
    invoke: ModuleType, lane: TestLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoke, "post_job", lambda *_: None)
    assert invoke.handle(handed_over(), CONTEXT) == {"outcome": "JobAccepted"}
    assert lane.stepfunctions.answers == []


def test_a_job_done_at_once_is_answered_here(
    invoke: ModuleType, lane: TestLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoke, "post_job", lambda *_: '{"status": "completed"}')
    assert invoke.handle(handed_over(), CONTEXT) == {"outcome": "JobDoneAtOnce"}
    assert lane.stepfunctions.answers == [(TOKEN, '{"status": "completed"}')]


@pytest.mark.parametrize("code", ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"])
def test_an_answer_that_comes_too_late_is_harmless(
    invoke: ModuleType, lane: TestLane, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setattr(invoke, "post_job", lambda *_: "{}")
    lane.stepfunctions.refuse_answers_with = code
    assert invoke.handle(handed_over(), CONTEXT) == {"outcome": "JobDoneAtOnce"}


def test_an_answer_that_could_not_be_given_leaves_the_outcome_open(
    invoke: ModuleType, lane: TestLane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoke, "post_job", lambda *_: "{}")
    lane.stepfunctions.refuse_answers_with = "ThrottlingException"
    with pytest.raises(BackendUnanswered, match="ThrottlingException"):
        invoke.handle(handed_over(), CONTEXT)


@pytest.mark.parametrize("stale", [{"fence": 6}, {"run": run_arn("redriven")}])
def test_a_run_that_no_longer_holds_the_lane_never_reaches_the_backend(
    invoke: ModuleType, monkeypatch: pytest.MonkeyPatch, stale: dict[str, Any]
) -> None:
    monkeypatch.setattr(invoke, "post_job", lambda *_: pytest.fail("the backend was called"))
    with pytest.raises(LaneLost):
        invoke.handle(handed_over(**stale), CONTEXT)


def test_neither_token_nor_payload_nor_name_is_logged(
    invoke: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def busy(*_: Any) -> None:
        raise BackendBusy("http://127.0.0.1:1/ answered 503: server busy")

    monkeypatch.setattr(invoke, "post_job", lambda *_: None)
    invoke.handle(handed_over(), CONTEXT)
    monkeypatch.setattr(invoke, "post_job", busy)
    with pytest.raises(BackendBusy):
        invoke.handle(handed_over(), CONTEXT)
    printed = "".join(capsys.readouterr())
    assert "BackendBusy" in printed
    assert "JobAccepted" in printed
    for secret in (TOKEN, "secret", "hunter2"):
        assert secret not in printed
