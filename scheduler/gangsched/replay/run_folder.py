"""The folder a run leaves (architecture.md §8): what went in, what was decided, what came out.

``run.json`` (inputs with their SHA-256, seed, engine version, options), ``config.json`` (effective configuration),
``decisions.jsonl`` (one outcome a line), ``pods.csv``, ``groups.csv``, ``summary.json``. Nothing in it depends on the
machine or the hour, so equal runs leave equal folders.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from gangsched.manifests.errors import InputError, found
from gangsched.replay.ledger import GangRecord, Ledger, PodRecord
from gangsched.replay.share_series import HEADER, ShareSeries, csv_row
from gangsched.replay.times import seconds
from gangsched_framework.objects import QUEUE_NAME

DECISIONS = "decisions.jsonl"
_FILES = ("run.json", "config.json", "summary.json", "pods.csv", "groups.csv", "queues.csv")
"""What else a run leaves; ``queues.csv`` only with shares."""
_PODS = ("pod", "group", "node", "created", "bound", "finished", "deleted", "queue")
_GROUPS = ("group", "minimum", "pods", "created", "placed", "finished", "deleted", "why", "queue")


class RunFolder:
    """A folder being written. A folder that holds an earlier run is overwritten, any other content is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()) and not (path / DECISIONS).exists():
                raise found(f"a folder with other files: {path}", "a new folder or one of an earlier run", "--out")
            for name in _FILES:  # a run that fails must not stand between the results of an earlier one
                (path / name).unlink(missing_ok=True)
            self.decisions: TextIO = self._open(DECISIONS)
        except OSError as problem:
            raise InputError(f"cannot write to {path}: {problem.strerror}", "--out") from None

    def finish(
        self,
        ledger: Ledger,
        *,
        inputs: Mapping[str, str],
        options: Mapping[str, Any],
        version: str,
        config: Mapping[str, Any],
        summary: Mapping[str, Any],
        series: ShareSeries | None = None,
    ) -> None:
        """Write everything else. ``inputs``: name -> SHA-256 of what was read."""
        self.decisions.close()
        run = {
            "gangsched": version,
            "inputs": [{"path": path, "sha256": digest} for path, digest in inputs.items()],
            "seed": None,  # nothing draws random numbers
            "options": options,
        }
        for name, document in (("config.json", config), ("summary.json", summary), ("run.json", run)):
            with self._open(name) as stream:
                stream.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        self._table("pods.csv", _PODS, (_pod_row(record) for record in ledger.all_pods()))
        self._table("groups.csv", _GROUPS, (_group_row(record) for record in ledger.all_gangs()))
        if series is not None:
            self._table("queues.csv", HEADER, (iter(csv_row(row)) for row in series.rows()))

    def _table(self, name: str, header: Sequence[str], rows: Iterable[Iterator[Any]]) -> None:
        with self._open(name) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)

    def _open(self, name: str) -> TextIO:
        return (self._path / name).open("w", encoding="utf-8", newline="")


def _pod_row(record: PodRecord) -> Iterator[Any]:
    yield record.pod.key
    yield record.pod.group_name
    yield record.node
    yield from _times(record.created, record.bound, record.finished, record.gone)
    yield record.pod.annotations.get(QUEUE_NAME, "")


def _group_row(record: GangRecord) -> Iterator[Any]:
    yield record.group.key.full_name
    yield record.group.required
    yield record.pods
    yield from _times(record.created, record.placed, record.finished, record.gone)
    yield record.why if record.placed is None else ""
    yield record.group.annotations.get(QUEUE_NAME, "")


def _times(*times: int | None) -> Iterator[int | float | str]:
    return ("" if time is None else seconds(time) for time in times)
