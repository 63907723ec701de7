"""What a run came to: every entity and every pod, with its verdict and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from gangsched.api import Engine
from gangsched.engine.conditions import INITIALLY_SCHEDULED
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict
from gangsched.engine.settings import SECOND
from gangsched.engine.waiting import why_not_queued
from gangsched_framework.objects import EntityKey, Group, Pod
from gangsched_framework.queue_state import EntityState, QueueState
from gangsched_queue.backoff import release_time

SUCCESS = "Success"
PENDING = "Pending"
"""Verdict of what was never tried."""


@frozen
class PodView:
    """A pod. ``verdict``: ``Success`` when it has a node, the code of its last refusal, or ``Pending``."""

    key: str
    group: str
    verdict: str
    node: str = ""
    nominated: str = ""
    rejected_by: tuple[str, ...] = ()
    message: str = ""


@frozen
class GroupView:
    """A group of a tree; ``depth`` counts from the root. ``bound`` and ``pods`` count the pods below it.

    ``verdict`` is that of the last cycle. ``scheduled`` is the status of the condition ``…InitiallyScheduled``, ''
    before it is written; it stays True when later cycles find no room for more (spec §4.10).
    """

    key: EntityKey
    depth: int
    verdict: str
    bound: int
    pods: int
    message: str = ""
    scheduled: str = ""


@frozen
class EntityView:
    """A plain pod or the root of a tree. ``container``: ``active``, ``backoff``, ``parked``, ``incomplete``, '' = none.

    ``attempts`` counts its cycles. ``backoff_left``: nanoseconds until it leaves backoff, None elsewhere. ``groups``
    lists the tree, root first, depth first (empty for a plain pod).
    """

    key: EntityKey
    verdict: str
    container: str
    attempts: int
    bound: int
    pods: int
    message: str = ""
    gated_by: str = ""
    groups: tuple[GroupView, ...] = ()
    backoff_left: int | None = None


@frozen
class RunView:
    """Everything ``gangsched run`` shows. ``evicted``: victim -> the entity it made room for."""

    entities: tuple[EntityView, ...]
    pods: tuple[PodView, ...]
    bindings: Mapping[str, str]
    evicted: Mapping[str, str]

    @property
    def all_placed(self) -> bool:
        """Whether every pod has a node and none had to go."""
        return all(pod.node for pod in self.pods) and not self.evicted

    def document(self) -> dict[str, Any]:
        """For JSON and YAML."""
        return {
            "bindings": dict(self.bindings),
            "pods": {pod.key: _pod_document(pod) for pod in self.pods},
            "entities": {str(entity.key): _entity_document(entity) for entity in self.entities},
            "evicted": dict(self.evicted),
        }


def view_run(engine: Engine, reports: Iterable[CycleReport]) -> RunView:
    """The state of ``engine`` after ``reports``, the cycles it has made."""
    seen = _Seen()
    for report in reports:
        seen.add(report)
    return _Viewer(engine, seen, engine.queue_state()).view()


@define
class _Seen:
    """The last word on everything that was ever tried."""

    pods: dict[str, PodVerdict] = field(factory=dict)
    groups: dict[EntityKey, GroupVerdict] = field(factory=dict)
    early: dict[EntityKey, CycleReport] = field(factory=dict)
    attempts: dict[EntityKey, int] = field(factory=dict)

    def add(self, report: CycleReport) -> None:
        self.pods.update(report.pods)
        self.groups.update(report.groups)
        self.attempts[report.entity] = report.attempt
        if report.early:
            self.early[report.entity] = report
        else:
            self.early.pop(report.entity, None)


class _Viewer:
    def __init__(self, engine: Engine, seen: _Seen, state: QueueState) -> None:
        self._engine = engine
        self._seen = seen
        self._forest = engine.core.world.forest
        self._pods = dict(sorted(engine.core.world.pods.items()))
        self._states: dict[EntityKey, tuple[str, EntityState]] = {}
        for name, entities in (("active", state.active), ("backoff", state.backoff), ("parked", state.parked)):
            self._states.update({entity.key: (name, entity) for entity in entities})
        self._queue = state

    def view(self) -> RunView:
        pods = tuple(self._pod(pod) for pod in self._pods.values())
        evicted = {key: str(by) for key, by in sorted(self._engine.evicted.items())}
        bindings = dict(sorted(self._engine.bindings.items()))
        return RunView(tuple(self._entities()), pods, bindings, evicted)

    def _entities(self) -> Iterator[EntityView]:
        keys = [pod.entity_key for pod in self._pods.values() if not pod.group_name]
        keys += [group.key for group in self._forest.groups() if self._top(group)]
        for key in sorted(keys):
            yield self._plain(key) if key.kind == "pod" else self._tree(key)

    def _top(self, group: Group) -> bool:
        """A root, a group whose parent is not there, or one on a circle of parents (then each of them)."""
        parent = group.parent_key
        return parent is None or self._forest.group(parent) is None or self._circular(group.key)

    def _circular(self, key: EntityKey) -> bool:
        """Whether climbing from ``key`` comes back to it."""
        seen: dict[EntityKey, None] = {}
        current = self._parent(key)
        while current is not None and current != key and current not in seen:
            seen[current] = None
            current = self._parent(current)
        return current == key

    def _parent(self, key: EntityKey) -> EntityKey | None:
        group = self._forest.group(key)
        return group.parent_key if group else None

    # --- one entity -------------------------------------------------------------------------------------------------

    def _plain(self, key: EntityKey) -> EntityView:
        pod = self._pod(self._pods[key.full_name])
        container, state = self._states.get(key, ("", None))
        gate = state.gated_by if state else ""
        message = state.reason if state and _passed_over(state) else pod.message
        attempts, left = self._attempts(key, state), self._backoff_left(state)
        return EntityView(key, pod.verdict, container, attempts, int(bool(pod.node)), 1, message, gate, (), left)

    def _tree(self, key: EntityKey) -> EntityView:
        container, state = self._states.get(key, ("", None))
        if not container and any(leaf in self._queue.incomplete for leaf in self._leaves(key)):
            container = "incomplete"
        groups = tuple(self._groups(key, 0))
        top = groups[0]
        gate = state.gated_by if state else ""
        message = _held_text(state) if state and (gate or _passed_over(state)) else top.message
        attempts, left = self._attempts(key, state), self._backoff_left(state)
        return EntityView(key, top.verdict, container, attempts, top.bound, top.pods, message, gate, groups, left)

    def _attempts(self, key: EntityKey, state: EntityState | None) -> int:
        return state.attempts if state else self._seen.attempts.get(key, 0)

    def _backoff_left(self, state: EntityState | None) -> int | None:
        if state is None or state.expires is None:
            return None
        return max(0, release_time(state.expires) - self._engine.now)

    def _groups(self, key: EntityKey, depth: int) -> Iterator[GroupView]:
        members = [pod for leaf in self._leaves(key) for pod in self._forest.pods(leaf).values()]
        bound = sum(bool(pod.node_name) for pod in members)
        verdict = self._seen.groups.get(key)
        status = verdict.status if verdict else None
        if status is None and (early := self._seen.early.get(self._root(key))) is not None:
            status = early.root
        code = status.code.value if status else PENDING
        message = status.message if status else ""
        yield GroupView(key, depth, code, bound, len(members), message, self._scheduled(key))
        for child in self._forest.children(key):
            if not self._circular(child):
                yield from self._groups(child, depth + 1)

    def _scheduled(self, key: EntityKey) -> str:
        group = self._forest.group(key)
        condition = group.condition(INITIALLY_SCHEDULED[group.kind]) if group else None
        return condition.status if condition else ""

    def _root(self, key: EntityKey) -> EntityKey:
        return self._forest.root(key) or key

    def _leaves(self, key: EntityKey) -> Iterator[EntityKey]:
        return self._forest.leaves_below(key)

    # --- one pod ----------------------------------------------------------------------------------------------------

    def _pod(self, pod: Pod) -> PodView:
        if pod.node_name:
            return PodView(pod.key, pod.group_name, SUCCESS, pod.node_name)
        nominated = pod.status.nominated_node_name
        verdict = self._seen.pods.get(pod.key)
        if verdict is not None and verdict.status is not None:
            status = verdict.status
            return PodView(pod.key, pod.group_name, status.code.value, "", nominated, verdict.plugins, status.message)
        return PodView(pod.key, pod.group_name, PENDING, "", nominated, (), self._why_untried(pod))

    def _why_untried(self, pod: Pod) -> str:
        if reason := why_not_queued(self._engine.core, self._queue, pod):
            return reason
        root = pod.entity_key if pod.group_key is None else self._root(pod.group_key)
        _, state = self._states.get(root, ("", None))
        return _held_text(state) if state is not None else ""


def _passed_over(state: EntityState) -> bool:
    """Whether an entity that is ready is not popped because of its queue's share."""
    return not state.gated_by and bool(state.reason)


def _held_text(state: EntityState) -> str:
    """Why an entity is not tried; '' = it may be."""
    if not state.gated_by:
        return state.reason
    return f"gated by {state.gated_by}" + (f": {state.reason}" if state.reason else "")


def _pod_document(pod: PodView) -> dict[str, Any]:
    return {
        "verdict": pod.verdict,
        "node": pod.node or None,
        "group": pod.group or None,
        "nominated": pod.nominated or None,
        "rejectedBy": list(pod.rejected_by),
        "message": pod.message,
    }


def _entity_document(entity: EntityView) -> dict[str, Any]:
    groups = {
        str(group.key): {
            "verdict": group.verdict,
            "scheduled": group.scheduled or None,
            "bound": group.bound,
            "pods": group.pods,
            "message": group.message,
        }
        for group in entity.groups
    }
    return {
        "verdict": entity.verdict,
        "container": entity.container or None,
        "attempts": entity.attempts,
        "backoffLeftSeconds": None if entity.backoff_left is None else entity.backoff_left / SECOND,
        "bound": entity.bound,
        "pods": entity.pods,
        "gatedBy": entity.gated_by or None,
        "message": entity.message,
        "groups": groups,
    }
