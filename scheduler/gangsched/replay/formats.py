"""The formats of traces, recognised by their first line."""

from __future__ import annotations

from typing import Literal

from gangsched.manifests.errors import describe, found
from gangsched.replay.complaints import Complaints
from gangsched.replay.converters import philly
from gangsched.replay.events import EventSource
from gangsched.replay.native import NativeTrace
from gangsched.replay.reading import TraceText

Format = Literal["native", "philly"]
FORMATS: tuple[Format, ...] = ("native", "philly")

DEFAULT_NODES: dict[str, str] = {"philly": "80x8gpu"}
"""``--nodes`` of a format without nodes. Philly: 640 GPUs; the table asks for 374 on average and 1,243 at most."""


def open_trace(complaints: Complaints, known: Format | None = None, *, pod_per_gpu: bool = False) -> EventSource:
    """Open the trace ``complaints.path`` (``-``: standard input) and read its header.

    ``known`` None = by its first line. Raises InputError.
    """
    text = TraceText(complaints)
    if (known or _detect(text)) == "philly":
        return philly.PhillyTrace(text, pod_per_gpu)
    if pod_per_gpu:
        raise found("a native trace", "the Philly table, whose jobs become pods", "--pod-per-gpu")
    return NativeTrace(text)


def _detect(text: TraceText) -> Format:
    number, line = text.first
    if line.startswith("{"):
        return "native"
    if philly.is_header(line):
        return "philly"
    allowed = f'a native trace ({{"gangsched_trace": 1, …}}) or the Philly table ({philly.HEADER})'
    raise text.complaints.at(number, found(f"the first line {describe(line)}", allowed))
