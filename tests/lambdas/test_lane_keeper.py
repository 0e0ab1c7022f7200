"""The lane keeper: what it does in each state of a lane, and that repeating it changes nothing more."""

import json
from typing import Any

import pytest

from lambdas.lane_keeper.keeper import Cause
from onelane.core.job import Job, S3Object, read_message
from tests.lambdas.conftest import NOW, TestLane
from tests.lambdas.fakes import run_arn

JOB = Job(
    id="ab" * 32,
    lane="default",
    name="in/report 1.csv",
    queued_at=NOW - 100,
    object=S3Object(bucket="files", key="in/report 1.csv", version_id="v1", etag="e", size=3),
)


def put_claimed(
    lane: TestLane, *, holder: str | None, attempt: int = 1, status: str = "RUNNING", **flag: Any
) -> None:
    """A lane whose job in front is JOB, at fence 7."""
    run = run_arn("report")
    held = {"holder": holder} if holder else {}
    lane.put(pk="lane#default", fence=7, job_id=JOB.id, since=int(NOW) - 50, **held, **flag)
    lane.put(
        pk=f"job#{JOB.id}",
        lane="default",
        status=status,
        name=JOB.name,
        job=json.dumps(JOB.as_json()),
        attempt=attempt,
        fence=7,
        run=run,
        receipt_handle="handle",
    )


def answered_history(answer: str | None) -> list[dict[str, Any]]:
    """The history of a run that reached the backend; its answer, or None while it was still at work."""
    events: list[dict[str, Any]] = [
        {"type": "TaskStateEntered", "stateEnteredEventDetails": {"name": "Delete message"}},
        {"type": "TaskSucceeded", "taskSucceededEventDetails": {"resource": "deleteMessage", "output": "{}"}},
        {"type": "TaskStateEntered", "stateEnteredEventDetails": {"name": "Invoke backend"}},
    ]
    if answer is not None:
        details = {"resource": "invoke.waitForTaskToken", "output": answer}
        events.append({"type": "TaskSucceeded", "taskSucceededEventDetails": details})
        events.append({"type": "TaskStateEntered", "stateEnteredEventDetails": {"name": "Record success"}})
    return [*events, {"type": "ExecutionAborted"}]


def test_a_hint_on_a_lane_never_used_starts_a_wake_run(lane: TestLane) -> None:
    assert lane.keeper.keep(Cause.OBJECT_CREATED) == ["wake run started"]
    assert lane.stepfunctions.started() == {f"wake-default-{int(NOW)}": {}}


def test_twenty_hints_in_a_second_start_one_wake_run(lane: TestLane) -> None:
    for _ in range(20):
        lane.keeper.keep(Cause.OBJECT_CREATED)
    assert len(lane.stepfunctions.started()) == 1


def test_a_hint_on_a_held_lane_sets_wake_and_starts_nothing(lane: TestLane) -> None:
    lane.put(pk="lane#default", fence=3, holder=lane.stepfunctions.add("report"))
    assert lane.keeper.keep(Cause.OBJECT_CREATED) == ["wake set"]
    assert lane.flag["wake"] is True
    assert lane.stepfunctions.started() == {}


def test_a_sweep_of_an_idle_lane_does_nothing(lane: TestLane) -> None:
    lane.put(pk="lane#default", fence=3)
    before = lane.flag
    assert lane.keeper.keep(Cause.SWEEP) == []
    assert lane.flag == before
    assert lane.stepfunctions.started() == {}


def test_a_sweep_finds_a_message_whose_hint_was_lost(lane: TestLane) -> None:
    lane.send()
    assert lane.keeper.keep(Cause.SWEEP) == ["wake run started"]


@pytest.mark.parametrize("cause", list(Cause))
def test_a_paused_lane_is_left_alone(lane: TestLane, cause: Cause) -> None:
    lane.put(pk="lane#default", fence=3, paused={"reason": "maintenance", "by": "ann", "at": int(NOW)})
    lane.send()
    assert lane.keeper.keep(cause) == []
    assert lane.stepfunctions.started() == {}


def test_a_living_holder_is_left_alone(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report"))
    lane.send()
    before = lane.flag
    assert lane.keeper.keep(Cause.SWEEP) == []
    assert lane.flag == before


def test_a_holder_that_handed_over_to_a_living_run_is_left_alone(lane: TestLane) -> None:
    successor = lane.stepfunctions.add("next")
    holder = lane.stepfunctions.add("report", "SUCCEEDED", ended_at=NOW, output={"next_run": successor})
    lane.put(pk="lane#default", fence=3, holder=holder)
    lane.send()
    assert lane.keeper.keep(Cause.SWEEP) == []
    assert lane.flag["holder"] == holder


def test_a_lane_handed_to_a_run_that_died_before_its_claim_is_freed(lane: TestLane) -> None:
    successor = lane.stepfunctions.add("next", "ABORTED", ended_at=NOW)
    holder = lane.stepfunctions.add("report", "SUCCEEDED", ended_at=NOW, output={"next_run": successor})
    lane.put(pk="lane#default", fence=3, holder=holder)
    lane.send()
    assert lane.keeper.keep(Cause.SWEEP) == ["lane freed of a dead run", "wake run started"]
    assert "holder" not in lane.flag


def test_a_run_that_is_not_known_yet_is_taken_for_alive(lane: TestLane) -> None:
    lane.put(pk="lane#default", fence=3, holder=run_arn("just-started"), since=int(NOW) - 10)
    assert lane.keeper.keep(Cause.SWEEP) == []
    lane.now = NOW + 600
    assert lane.keeper.keep(Cause.SWEEP) == ["lane freed of a dead run"]


def test_the_job_of_a_dead_run_is_resumed_in_front_after_the_cool_down(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report", "ABORTED", ended_at=NOW - 5))
    lane.stepfunctions.histories[run_arn("report")] = answered_history(None)
    lane.send()
    done = lane.keeper.keep(Cause.RUN_ENDED, run_arn("report"))
    assert done == ["lane freed of a dead run, its job left in front", "job resumed, attempt 2"]
    assert lane.flag["job_id"] == JOB.id
    assert float(lane.flag["not_before"]) == int(NOW - 5) + 60
    [(name, run_input)] = lane.stepfunctions.started().items()
    assert name == "in-report-1.csv-abababababab-f7-1"
    assert run_input == {
        "job": JOB.as_json(),
        "receipt_handle": "handle",
        "opener": "none",
        "fence": 7,
        "attempt": 2,
        "previous": {"status": "RUNNING", "fence": 7},
    }


def test_keeping_twice_resumes_once(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report", "FAILED", ended_at=NOW))
    for cause in (Cause.RUN_ENDED, Cause.SWEEP, Cause.OPERATOR):
        lane.keeper.keep(cause, run_arn("report"))
    assert len(lane.stepfunctions.started()) == 1


def test_a_resume_run_that_died_before_its_claim_gets_a_successor_at_the_next_sweep_only(lane: TestLane) -> None:
    put_claimed(lane, holder=None)
    dead = lane.stepfunctions.add("in-report-1.csv-abababababab-f7-1", "FAILED", ended_at=NOW)
    assert lane.keeper.keep(Cause.RUN_ENDED, dead) == ["job left to the next sweep"]
    assert lane.keeper.keep(Cause.SWEEP) == ["job resumed, attempt 2"]
    assert list(lane.stepfunctions.started()) == ["in-report-1.csv-abababababab-f7-2"]


def test_a_job_that_its_dead_run_had_finished_is_not_done_again(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report", "ABORTED", ended_at=NOW))
    lane.stepfunctions.histories[run_arn("report")] = answered_history('{"rows": 3}')
    lane.send()
    done = lane.keeper.keep(Cause.SWEEP)
    assert done == ["finished job of a dead run recorded", "wake run started"]
    record = lane.item(f"job#{JOB.id}")
    assert (record["status"], record["result"]) == ("SUCCEEDED", '{"rows": 3}')
    assert "job_id" not in lane.flag


def test_an_earlier_attempts_answer_is_not_taken_for_the_latest_ones(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report", "ABORTED", ended_at=NOW), attempt=2)
    lane.stepfunctions.histories[run_arn("report")] = answered_history('{"old": true}')[:-1] + answered_history(None)
    assert lane.keeper.keep(Cause.SWEEP)[-1] == "job resumed, attempt 3"


def test_a_job_out_of_attempts_is_parked_with_its_reason_and_can_be_read_again(lane: TestLane) -> None:
    put_claimed(lane, holder=lane.stepfunctions.add("report", "ABORTED", ended_at=NOW), attempt=3)
    lane.send()
    done = lane.keeper.keep(Cause.SWEEP)
    assert done[-2:] == ["job parked after 3 attempts", "wake run started"]
    [message] = lane.parked()
    attributes = {name: value["StringValue"] for name, value in message["MessageAttributes"].items()}
    assert attributes["error"] == "RunDied"
    assert attributes["attempts"] == "3"
    message["Attributes"] = {"SentTimestamp": "0", "MessageDeduplicationId": "x"}
    assert read_message(message, "default").id == JOB.id
    assert lane.item(f"job#{JOB.id}")["status"] == "PARKED"
    assert "job_id" not in lane.flag


def test_a_job_that_has_ended_is_taken_from_the_front(lane: TestLane) -> None:
    put_claimed(lane, holder=None, status="SUCCEEDED")
    assert lane.keeper.keep(Cause.SWEEP) == ["ended job taken from the front"]
    assert "job_id" not in lane.flag


def test_a_wake_run_that_failed_is_not_repeated_before_the_sweep(lane: TestLane) -> None:
    wake = lane.stepfunctions.add("wake-default-1", "FAILED", ended_at=NOW)
    lane.put(pk="lane#default", fence=3, holder=wake)
    lane.send()
    assert lane.keeper.keep(Cause.RUN_ENDED, wake) == ["lane freed of a dead run"]
    assert lane.keeper.keep(Cause.SWEEP) == ["wake run started"]


def test_a_delayed_write_of_a_dead_run_is_put_right_by_the_next_sweep(lane: TestLane) -> None:
    dead = lane.stepfunctions.add("report", "ABORTED", ended_at=NOW)
    lane.put(pk="lane#default", fence=3)
    assert lane.keeper.keep(Cause.RUN_ENDED, dead) == []
    lane.put(pk="lane#default", fence=3, holder=dead)  # the write that came late
    assert lane.keeper.keep(Cause.SWEEP) == ["lane freed of a dead run"]
    assert "holder" not in lane.flag


def test_what_somebody_else_did_meanwhile_is_not_undone(lane: TestLane, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = lane.stepfunctions.add("report", "ABORTED", ended_at=NOW)
    put_claimed(lane, holder=dead)
    life = lane.keeper._runs.life

    def slow_life(run: str, *, since: float) -> Any:
        lane.put(pk="lane#default", fence=8, holder=lane.stepfunctions.add("faster"), job_id=JOB.id)
        return life(run, since=since)

    monkeypatch.setattr(lane.keeper._runs, "life", slow_life)
    assert lane.keeper.keep(Cause.SWEEP) == []
    assert lane.flag["holder"] == run_arn("faster")
