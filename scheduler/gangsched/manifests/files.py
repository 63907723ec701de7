"""Files of manifests to objects: read fast, and again with positions only to report an error (architecture.md §7)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, TypeVar

from attrs import frozen

from gangsched.manifests.decoder import Decoder, label_of
from gangsched.manifests.doubts import Doubts
from gangsched.manifests.errors import InputError, describe, found
from gangsched.manifests.sources import Source, open_sources, shown
from gangsched_framework.objects import ClusterObject

T = TypeVar("T")


@frozen
class Loaded:
    """What was read: objects in file order, warnings fit to print, and how many objects of which kinds were skipped."""

    objects: tuple[ClusterObject, ...]
    warnings: tuple[str, ...]
    skipped: Mapping[str, int]


@frozen
class _Document:
    source: Source
    index: int
    content: Mapping[str, Any]

    def place(self) -> str:
        """``FILE:LINE`` of its beginning."""
        return self.source.place(self.index, ())


def read_files(
    paths: Sequence[str],
    *,
    decoder: Decoder | None = None,
    stdin: IO[bytes] | IO[str] | None = None,
    now: int = 0,
    beside: Iterable[ClusterObject] = (),
) -> Loaded:
    """Read manifests from ``paths``: files, directories (their *.yaml, *.yml, *.json in name order), ``-``; also .gz.

    Priority and runtime classes are known to all objects, wherever they stand. ``now``: engine time in nanoseconds.
    Objects given twice, nodes and parents of queues that are named and not there are warned about; ``beside`` are
    objects that will be there, too. Raises InputError with file and line, for an unknown class that a strict
    ``decoder`` meets (the default is strict), and when there is no object at all.
    """
    decoder = decoder or Decoder()
    warned, skipped = len(decoder.warnings), dict(decoder.skipped)
    with _collector_paused():
        documents = [document for source in open_sources(paths, stdin) for document in _documents(source)]
        if not documents:
            raise found("no object", "manifests", where=", ".join(map(shown, paths)))
        for document in documents:
            _placed(document, lambda content, name: decoder.learn(content, where=name))
        objects: list[ClusterObject] = []
        doubts = Doubts()
        for obj in beside:
            doubts.add(obj, "", str)
        documents.reverse()
        while documents:  # each document is let go once its objects are there
            document = documents.pop()
            for obj in _placed(document, lambda content, name: decoder.decode(content, where=name, now=now)):
                doubts.add(obj, document.source.name, document.place)
                objects.append(obj)
    for warning in doubts.warnings():
        decoder.tell(warning)
    news = {
        kind: count - skipped.get(kind, 0) for kind, count in decoder.skipped.items() if count > skipped.get(kind, 0)
    }
    return Loaded(tuple(objects), tuple(decoder.warnings[warned:]), news)


def _documents(source: Source) -> Iterator[_Document]:
    for index, content in enumerate(source.documents()):
        if content is None:
            continue  # an empty document between two separators
        if not isinstance(content, dict):
            error = found(describe(content), "an object with apiVersion and kind")
            error.where = source.place(index, ())
            raise error
        yield _Document(source, index, content)


def _placed(document: _Document, use: Callable[[Mapping[str, Any], str], T]) -> T:
    """``use`` of the document's content; an error gets its line by reading the text once more."""
    try:
        return use(document.content, document.source.name)
    except InputError as error:
        error.label = error.label or label_of(document.content)
        error.where = document.source.place(document.index, error.path)
        raise


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Documents hold no cycles, and collecting among millions of new values costs more than reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
