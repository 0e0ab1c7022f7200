"""What a person sees: steps, live progress and the table at the end."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from onelane.demo.evidence import Run, Work

#: Width of the output where there is no terminal to ask, in characters.
PLAIN_WIDTH = 150
#: How many finished jobs the live view repeats.
LAST_DONE = 5


class Display:
    """Prints to stderr while things happen and to stdout what they came to."""

    def __init__(self) -> None:
        self.progress = Console(stderr=True, highlight=False)
        terminal = Console(highlight=False)
        self.results = terminal if terminal.is_terminal else Console(highlight=False, width=PLAIN_WIDTH)
        self._live: Live | None = None
        self._told: dict[str, str] = {}

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Shows that a step is under way, and how long it took."""
        begun = time.monotonic()
        with self.progress.status(f"{text} …"):
            yield
        self.progress.print(f"[green]✓[/] {text} [dim]({time.monotonic() - begun:.1f} s)[/]")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Live progress of the jobs; without a terminal, a line whenever a job changes."""
        if not self.progress.is_terminal:
            yield
            return
        with Live(console=self.progress, refresh_per_second=8, transient=True) as self._live:
            yield
        self._live = None

    def show_jobs(self, files: Sequence[str], records: Mapping[str, Mapping[str, Any]], now: float) -> None:
        """Shows where each file is.

        Args:
            files: Keys in the order they were uploaded.
            records: The job records (DynamoDB items) by key, of those that have been claimed.
            now: Epoch seconds.
        """
        if self._live is None:
            self._tell_changes(files, records)
        else:
            self._live.update(_jobs_view(files, records, now))

    def _tell_changes(self, files: Sequence[str], records: Mapping[str, Mapping[str, Any]]) -> None:
        for file in files:
            status = records[file]["status"]["S"] if file in records else "waiting"
            if self._told.get(file, "waiting") != status:
                self.progress.print(f"  {status.lower():<10} {file}", soft_wrap=True)
            self._told[file] = status

    def show_results(self, files: Sequence[str], work: Sequence[Work], runs: Mapping[str, Run]) -> None:
        """The table: file, run name, attempt, waited, ran, result."""
        by_file = {run.file: run for run in runs.values()}
        pieces = {piece.job_id: piece for piece in work}
        table = Table(title="Jobs, in the order of their uploads", title_justify="left")
        for heading, options in {
            "file": {"overflow": "fold", "ratio": 3},
            "run name": {"overflow": "fold", "ratio": 4},
            "attempt": {"justify": "right"},
            "waited": {"justify": "right"},
            "ran": {"justify": "right"},
            "result": {"overflow": "fold", "ratio": 5},
        }.items():
            table.add_column(heading, **options)  # type: ignore[arg-type]  # one options mapping for all columns
        for file in files:
            run = by_file.get(file)
            if run is None:
                table.add_row(Text(file), "-", "-", "-", "-", "no run was seen")
                continue
            piece = pieces.get(run.job_id)
            waited = f"{piece.started - run.queued:.1f} s" if piece else "-"
            ran = f"{piece.ended - piece.started:.1f} s" if piece and piece.ended else "-"
            table.add_row(Text(file), Text(run.name), str(run.attempt), waited, ran, Text(run.result or run.status))
        self.results.print(table)


def _jobs_view(files: Sequence[str], records: Mapping[str, Mapping[str, Any]], now: float) -> Group:
    status = {file: records[file]["status"]["S"] if file in records else "WAITING" for file in files}
    ended = [file for file in files if status[file] not in ("WAITING", "RUNNING")]
    lines: list[Any] = [
        Text.assemble(
            (f"{sum(value == 'WAITING' for value in status.values())} waiting", "yellow"),
            "   ",
            (f"{sum(value == 'RUNNING' for value in status.values())} running", "cyan"),
            "   ",
            (f"{len(ended)} of {len(files)} done", "green"),
        ),
        ProgressBar(total=len(files), completed=len(ended), width=60),
    ]
    for file in ended[-LAST_DONE:]:
        good = status[file] == "SUCCEEDED"
        lines.append(Text(f"  {'✓' if good else '✗'} {file}", style="green" if good else "red", overflow="ellipsis"))
    for file in files:
        if status[file] == "RUNNING":
            lines.append(Text(f"  ▶ {file}  {_running(records[file], now)}", style="cyan", overflow="ellipsis"))
    return Group(*lines)


def _running(record: Mapping[str, Any], now: float) -> str:
    parts = [f"{max(0.0, now - float(record['started_at']['N'])):.1f} s"]
    if "heartbeat_at" in record:
        parts.append(f"last heartbeat {max(0.0, now - float(record['heartbeat_at']['N'])):.1f} s ago")
    if "progress" in record:
        parts.append(f"{float(record['progress']['N']):.0%} {record.get('progress_text', {}).get('S', '')}".strip())
    return " · ".join(parts)
