"""What is odd about objects read together, though each is right: given twice, or naming what is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define, field, frozen

from gangsched_framework.objects import DEFAULT_QUEUE, ClusterObject, Node, Pod, Queue, SelectorOwner

_ROOT = "root"
_MOST_LINES = 10
"""Finding a line means reading the text once more."""


@frozen
class _Naming:
    """The first object that names another one, the file it stands in, and how many do."""

    label: str
    where: str
    count: int = 1


@define
class Doubts:
    """Collects objects in their order; ``warnings`` once all are there."""

    _given: dict[tuple[str, str, str], int] = field(factory=dict)
    _again: dict[tuple[str, str, str], str] = field(factory=dict)
    _nodes: dict[str, None] = field(factory=dict)
    _named_nodes: dict[str, _Naming] = field(factory=dict)
    _queues: dict[str, tuple[str, str]] = field(factory=dict)

    def add(self, obj: ClusterObject, where: str, place: Callable[[], str]) -> None:
        """The next object: ``where`` is its file, ``place`` finds the line, too."""
        kind = obj.kind if isinstance(obj, SelectorOwner) else type(obj).__name__
        identity = (kind, getattr(obj, "namespace", ""), obj.name)
        before = self._given.get(identity, 0)
        self._given[identity] = before + 1
        if before == 1:
            self._again[identity] = place() if len(self._again) < _MOST_LINES else where
        if isinstance(obj, Pod):
            if obj.node_name:
                known = self._named_nodes.get(obj.node_name, _Naming(f"Pod/{obj.name}", where, 0))
                self._named_nodes[obj.node_name] = _Naming(known.label, known.where, known.count + 1)
        elif isinstance(obj, Node):
            self._nodes[obj.name] = None
        elif isinstance(obj, Queue):
            self._queues[obj.name] = (obj.parent, where)

    def warnings(self) -> Iterator[str]:
        """One for each object given again (``kubectl apply`` would take it without a word), node and parent missed."""
        for identity, where in self._again.items():
            name = "/".join(filter(None, identity))
            yield f"{where}: {name}: is given {self._given[identity]} times, the last one counts"
        for node, naming in self._named_nodes.items():
            if node not in self._nodes:
                more = f" ({naming.count - 1} more)" if naming.count > 1 else ""
                text = f"node {node} is not there, so the pod takes no room"
                yield f"{naming.where}: {naming.label}: spec.nodeName: {text}{more}"
        for queue, (parent, where) in self._queues.items():
            if parent and (wrong := self._wrong_parent(queue, parent)):
                yield f"{where}: Queue/{queue}: spec.parent: {wrong}"

    def _wrong_parent(self, queue: str, parent: str) -> str:
        if parent not in self._queues and parent not in (_ROOT, DEFAULT_QUEUE):
            return f"queue {parent} is not there"
        seen = {queue: None}
        while parent in self._queues and parent not in seen:
            seen[parent] = None
            parent, _ = self._queues[parent]
        return "the queue is its own ancestor" if parent == queue else ""
