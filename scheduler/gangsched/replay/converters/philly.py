"""The Philly table: jobs of Microsoft's deep-learning clusters (Jeon et al., USENIX ATC 2019).

Columns ``submit_s,duration_s,num_gpus,vc``: seconds since the start, seconds of run time, GPUs of the whole job,
virtual cluster. A job becomes an all-or-nothing gang ``job-000001`` (numbered by row) in namespace ``default``: a
PodGroup whose minimum is all its pods, and pods of at most 8 GPUs each (12 → 8 + 4), or of one GPU each. The table
tells nothing of CPU and memory, so the pods request none. Group and pods carry the label ``vc`` and belong to the queue
of that name; the group is deleted when it has finished.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache

from gangsched.manifests import Decoder
from gangsched.manifests.context import GROUPS
from gangsched.manifests.errors import InputError, describe, found
from gangsched.manifests.names import LABEL_VALUE
from gangsched.manifests.own_annotations import DELETE_WHEN_FINISHED, DURATION
from gangsched.replay.events import Identity, TraceEvent, TraceHeader
from gangsched.replay.reading import TraceText
from gangsched.replay.times import parse_seconds
from gangsched_framework.objects import QUEUE_NAME, Container, Pod, PodGroup, PodSpec
from gangsched_framework.quantity import UNIT

HEADER = "submit_s,duration_s,num_gpus,vc"
GPU = "nvidia.com/gpu"
GPUS_PER_NODE = 8
LABEL = "vc"
_COLUMNS = tuple(HEADER.split(","))
_MOST_GPUS = 8_192


class PhillyTrace:
    """Reads the table. ``pod_per_gpu``: one pod for each GPU instead of one for up to eight."""

    def __init__(self, text: TraceText, pod_per_gpu: bool = False) -> None:
        self._text = text
        self._complaints = text.complaints
        self._decoder = Decoder()
        self._gpus_per_pod = 1 if pod_per_gpu else GPUS_PER_NODE
        line, header = text.first
        if not is_header(header):
            raise self._complaints.at(line, found(f"the header {describe(header)}", HEADER))

    @property
    def header(self) -> TraceHeader:
        return TraceHeader("philly", "philly")

    @property
    def decoder(self) -> Decoder:
        return self._decoder

    def sha256(self) -> str:
        return self._text.sha256()

    def events(self) -> Iterator[TraceEvent]:
        """Each job: its PodGroup, then its pods, at the time of its submission."""
        if not self._decoder.groups:
            self._decoder.tell(f"{self._complaints.name}: jobs are no gangs while the feature gate {GROUPS} is off")
        last = 0
        for row, (line, text) in enumerate(self._text.rest(), start=1):
            try:
                submit, duration, gpus, cluster = _job(text)
                if submit < last:
                    raise found("a time before that of the line above", "times that never decrease", "submit_s")
            except InputError as problem:
                self._complaints.add(line, problem)
                continue
            last = submit
            sizes = pieces(gpus, self._gpus_per_pod)
            name = f"job-{row:06d}"
            if self._decoder.groups:
                yield self._group(submit, line, name, len(sizes), cluster)
            yield from self._pods(submit, line, name, duration, sizes, cluster)

    def _group(self, time: int, line: int, name: str, pods: int, cluster: str) -> TraceEvent:
        group = PodGroup(
            "default",
            name,
            f"PodGroup|default/{name}#1",
            minimum=pods,
            labels={LABEL: cluster},
            annotations={DELETE_WHEN_FINISHED: "true", QUEUE_NAME: cluster},
            creation_timestamp=time,
        )
        return TraceEvent(time, line, "add", Identity.of(group), group)

    def _pods(
        self, time: int, line: int, name: str, duration: int, sizes: tuple[int, ...], cluster: str
    ) -> Iterator[TraceEvent]:
        labels, notes = {LABEL: cluster}, {DURATION: f"{duration}ns", QUEUE_NAME: cluster}
        group_name = name if self._decoder.groups else ""
        for number, gpus in enumerate(sizes):
            pod_name = f"{name}-{number}"
            pod = Pod(
                "default",
                pod_name,
                f"Pod|default/{pod_name}#1",
                _spec(gpus),
                labels=labels,
                annotations=notes,
                creation_timestamp=time,
                group_name=group_name,
            )
            yield TraceEvent(time, line, "add", Identity.of(pod), pod)


def is_header(text: str) -> bool:
    """Whether a line is the header of the table; its names may stand in quotes, as the cells below them may."""
    try:
        return tuple(_cells(text)) == _COLUMNS
    except InputError:
        return False


def pieces(gpus: int, most: int) -> tuple[int, ...]:
    """GPUs of each pod of a job: as many full pods as go in, then the rest."""
    return (most,) * (gpus // most) + ((gpus % most,) if gpus % most else ())


@cache
def _spec(gpus: int) -> PodSpec:
    """Jobs of one size share one spec, so whatever is derived from it is computed once."""
    return PodSpec((Container("train", requests={GPU: gpus * UNIT}, limits={GPU: gpus * UNIT}),))


def _job(text: str) -> tuple[int, int, int, str]:
    """(submission in ns, duration in ns, GPUs, virtual cluster) of one row."""
    row = _cells(text)
    if len(row) != len(_COLUMNS):
        raise found(f"{len(row)} columns", f"{len(_COLUMNS)}: {HEADER}")
    submit, duration, gpus, cluster = row
    run_time = _seconds(duration, "duration_s")
    if not (gpus.isascii() and gpus.isdigit() and len(gpus) <= 6 and 1 <= int(gpus) <= _MOST_GPUS):
        raise found(describe(gpus), f"a whole number from 1 to {_MOST_GPUS}", "num_gpus")
    if not cluster:
        raise found("nothing", "the name of a virtual cluster", "vc")
    LABEL_VALUE.require(cluster, "vc")
    return _seconds(submit, "submit_s"), run_time, int(gpus), cluster


def _cells(text: str) -> list[str]:
    """The cells of one line. Raises InputError, also where a quote is left open."""
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error as problem:
        raise found(f"no row of a table ({problem})", HEADER) from None


def _seconds(text: str, column: str) -> int:
    try:
        return parse_seconds(text)
    except ValueError as problem:
        raise found(describe(text), f"seconds ({problem})", column) from None
