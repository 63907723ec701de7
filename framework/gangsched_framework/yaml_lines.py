"""Where values of a YAML or JSON text stand: asked for when an error is to be reported, never before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import yaml

from gangsched_framework.strict_yaml import EVENT_LOADER

ValuePath = tuple[str | int, ...]
"""Keys and list indexes from the top of a document to a value."""


def line_of(text: str, document: int, path: Sequence[str | int]) -> int | None:
    """Line (from 1) of the value at ``path`` in the document with that number (from 0), keys counting as their values.

    If there is no such value, the line of the nearest one above it. None when the text cannot be read that far.
    """
    wanted = list(path)
    best: int | None = None
    for number, found, line in _walk(text):
        if number > document:
            break
        if number == document and found == wanted[: len(found)]:
            best = line
            if len(found) == len(wanted):
                break
    return best


def lines(text: str, document: int = 0) -> dict[ValuePath, int]:
    """The line of every value of one document, by its path. For small files."""
    return {tuple(path): line for number, path, line in _walk(text) if number == document}


def _walk(text: str) -> Iterator[tuple[int, list[str | int], int]]:
    """Document number, path and line of each value that can be read; the path is one list that changes on the way."""
    document = -1
    path: list[str | int] = []
    in_map: list[bool] = []
    key_next = True
    event: Any
    try:
        for event in yaml.parse(text, Loader=EVENT_LOADER):
            kind = event.__class__
            if kind is yaml.DocumentStartEvent:
                document, path, in_map, key_next = document + 1, [], [], True
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                path.pop()
                in_map.pop()
                key_next = True
            elif in_map and in_map[-1] and key_next and kind is yaml.ScalarEvent:
                path[-1] = event.value
                key_next = False
                yield document, path, event.start_mark.line + 1
            elif kind in (yaml.ScalarEvent, yaml.AliasEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent):
                if not in_map:
                    yield document, path, event.start_mark.line + 1
                elif not in_map[-1]:
                    path[-1] = int(path[-1]) + 1
                    yield document, path, event.start_mark.line + 1
                key_next = True
                if kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                    in_map.append(kind is yaml.MappingStartEvent)
                    path.append(-1)
    except (yaml.YAMLError, UnicodeEncodeError):  # already reported by who asks
        return
