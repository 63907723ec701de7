"""What emptying a node for a kind of preemptor came to, kept while the node is untouched.

While every plugin that filters the preemptor looks at one node alone, a dry run depends on the node, on the pods and
nominations on it, and on the priorities of their groups. Of the nodes looked at for one preemptor few have changed when
the next one comes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from attrs import define, field, frozen

from gangsched_framework.handle import Handle
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import Move
from gangsched_framework.objects import POD, EntityKey, Pod
from gangsched_framework.status import Status
from gangsched_plugins.default_preemption.candidates import Candidate
from gangsched_plugins.default_preemption.units import Unit, UnitFinder

MAX_KINDS = 64
MAX_STALE = 256
"""Changed nodes up to which they are forgotten one by one."""

Answer = Candidate | Status


@frozen(eq=False)
class DryRun:
    """The answer, and the priority of each group whose pods stand on the node (None = its pods' own)."""

    answer: Answer
    groups: tuple[tuple[EntityKey, int | None], ...]

    def holds(self, units: UnitFinder) -> bool:
        """Whether the groups are still what they were."""
        return all(units.climb(leaf) == (None, priority) for leaf, priority in self.groups)


@define(eq=False)
class DryRuns:
    """Dry runs by kind of preemptor and row."""

    _handle: Handle
    _kinds: OrderedDict[Hashable, dict[int, DryRun]] = field(factory=OrderedDict)
    _classes: NodeClasses | None = None
    _listed: int = -1
    _touched: list[int] | None = None
    _touches: int = 0
    _moves: list[Move] | None = None
    _moved: int = 0

    def of(self, pod: Pod) -> dict[int, DryRun]:
        """The dry runs of preemptors like ``pod``, those of changed nodes left out."""
        self._sync()
        key = (pod.scheduler_name, pod.spec, pod.priority)
        known = self._kinds.get(key)
        if known is None:
            known = self._kinds[key] = {}
            if len(self._kinds) > MAX_KINDS:
                self._kinds.popitem(last=False)
        self._kinds.move_to_end(key)
        return known

    def _sync(self) -> None:
        table = self._handle.snapshot.table
        touched, moves = table.touched, table.follow_moves()
        same_logs = self._touched is touched and self._moves is moves
        if not same_logs or self._classes is not table.classes or self._listed != self._handle.lister_version:
            self._kinds.clear()
        else:
            stale = dict.fromkeys(touched[self._touches :])
            stale.update((row, None) for _, row, sign in moves[self._moved :] if not sign)
            if len(stale) > MAX_STALE:
                self._kinds.clear()
            for kept in self._kinds.values():
                for row in stale:
                    kept.pop(row, None)
        self._classes, self._listed = table.classes, self._handle.lister_version
        self._touched, self._touches, self._moves, self._moved = touched, len(touched), moves, len(moves)


def dry_run(answer: Answer, pods: list[Pod], units: list[Unit], finder: UnitFinder) -> DryRun | None:
    """The answer to keep; None when a unit reaches beyond the node. ``pods``: all those on the node."""
    if any(unit.key.kind != POD for unit in units):
        return None
    leaves = dict.fromkeys(pod.group_key for pod in pods if pod.group_key is not None)
    climbed = [(leaf, finder.climb(leaf)) for leaf in leaves]
    if any(group is not None for _, (group, _) in climbed):
        return None
    return DryRun(answer, tuple((leaf, priority) for leaf, (_, priority) in climbed))
