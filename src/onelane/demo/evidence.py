"""What was seen: pieces of work from the backend's own journal, runs from their histories, and what both prove."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onelane.core.history import paid_transitions, path

INVOKE_STATE = "Invoke backend"


@dataclass(frozen=True, kw_only=True)
class Work:
    """One piece of work, as the backend's journal has it. Times are epoch seconds; `ended` is None until it has."""

    job_id: str
    name: str
    attempt: int
    fence: int
    started: float
    ended: float | None
    outcome: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """One job's run: its record and its history.

    Attributes:
        name: The run's name.
        file: The object's key.
        job_id: The job's id.
        status: The job's status.
        attempt: Number of the last attempt.
        queued: When the queue accepted the message, epoch seconds.
        result: One line on the outcome.
        path: States entered, in order.
        transitions: Paid state transitions.
    """

    name: str
    file: str
    job_id: str
    status: str
    attempt: int
    queued: float
    result: str
    path: tuple[str, ...]
    transitions: int


def read_journal(lines: Iterable[str]) -> list[Work]:
    """Pieces of work in the order they started.

    Args:
        lines: JSON lines with `event` (`started`, `ended` or `stopped`), `job_id`, `name`, `attempt`, `fence`, `at`
            and, where it ended, `outcome`.
    """
    pieces: list[Work] = []
    for line in lines:
        if not line.endswith("\n"):
            continue  # still being written
        entry = json.loads(line)
        if entry["event"] == "started":
            pieces.append(
                Work(
                    job_id=entry["job_id"],
                    name=entry["name"],
                    attempt=entry["attempt"],
                    fence=entry["fence"],
                    started=entry["at"],
                    ended=None,
                    outcome="",
                )
            )
            continue
        for index, piece in enumerate(pieces):
            if (piece.job_id, piece.fence) == (entry["job_id"], entry["fence"]):
                outcome = entry.get("outcome") or entry["event"]
                pieces[index] = Work(**{**vars(piece), "ended": entry["at"], "outcome": outcome})
    return pieces


def read_run(record: Mapping[str, Mapping[str, Any]], events: Sequence[Mapping[str, Any]]) -> Run:
    """A run from its job's record (a DynamoDB item) and its history."""
    failed = record.get("error", {}).get("S", "")
    return Run(
        name=record["run"]["S"].rpartition(":")[2],
        file=record["name"]["S"],
        job_id=record["pk"]["S"].partition("#")[2],
        status=record["status"]["S"],
        attempt=int(record["attempt"]["N"]),
        queued=float(record["received_at"]["N"]) if "received_at" in record else 0.0,
        result=f"{failed}: {record.get('cause', {}).get('S', '')}" if failed else _summary(record),
        path=tuple(path(events)),
        transitions=paid_transitions(events),
    )


def _summary(record: Mapping[str, Mapping[str, Any]]) -> str:
    try:
        result = json.loads(record["result"]["S"])
    except (KeyError, ValueError):
        return ""
    return str(result.get("summary", result)) if isinstance(result, dict) else str(result)


def idle_gaps(work: Sequence[Work], runs: Mapping[str, Run]) -> list[float]:
    """Seconds between the end of a job and the start of the next that was waiting already."""
    gaps = []
    for before, after in itertools.pairwise(work):
        run = runs.get(after.job_id)
        if before.ended is not None and run is not None and run.queued < before.ended:
            gaps.append(after.started - before.ended)
    return gaps


def problems(files: Sequence[str], work: Sequence[Work], runs: Mapping[str, Run]) -> list[str]:
    """Everything that contradicts "all done, one at a time, in order"; empty where nothing does.

    Args:
        files: Keys in the order they were uploaded.
        work: The backend's journal.
        runs: The runs by job id.
    """
    found: list[str] = []
    by_file = {run.file: run for run in runs.values()}
    for file in files:
        run = by_file.get(file)
        if run is None:
            found.append(f"{file}: no run was seen")
        elif run.status != "SUCCEEDED":
            found.append(f"{file}: {run.status} in attempt {run.attempt}: {run.result or 'no outcome yet'}")
        elif run.path.count(INVOKE_STATE) != 1:
            found.append(f"{file}: its run {run.name} invoked the backend {run.path.count(INVOKE_STATE)} times")
    for before, after in itertools.pairwise(work):
        if before.ended is None or after.started < before.ended:
            found.append(f"{after.name} started while {before.name} was at work")
    for piece in work:
        if piece.job_id not in runs:
            found.append(f"{piece.name}: the backend did work for which there is no run")
    started = list(dict.fromkeys(piece.name for piece in work))
    if not found and started != list(files):
        found.append(f"order of starts: {', '.join(started)}; order of uploads: {', '.join(files)}")
    repeated = len(work) - len({piece.job_id for piece in work})
    if not found and repeated:
        found.append(f"{repeated} pieces of work were second attempts")
    return found
