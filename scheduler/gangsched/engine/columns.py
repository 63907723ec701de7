"""Which pods can be placed by columns, and the columns of each signature (architecture.md §5).

A pod's signature is the content of its spec; a few plugins read more, which they tell by a key. Columns of a kind of
pod are made when it is met, dropped when nodes change, and bounded in number; a plugin without a columnar form for a
pod sends its kind to the per-node form (the oracle).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from attrs import define, field, frozen

from gangsched.engine.column_slots import Ground, Slot
from gangsched.engine.promised_room import PromisedRoom
from gangsched.engine.row_facts import FactsOfTable
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.columns import ParticularColumns
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.framework import Framework, NodePlugin
from gangsched_framework.handle import Nominations
from gangsched_framework.node_classes import NodeClasses
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import PodSpec

MAX_COLUMNS = 1024
"""Signatures kept; a column costs 4 bytes a node, and two list entries unless it shares what pods do not change."""


@frozen(eq=False)
class _Known:
    """A pod whose column was found, so that its like needs no search. ``versions``: what plugins read beyond specs."""

    pod: Pod
    framework: Framework
    column: SignatureColumn
    versions: tuple[tuple[ParticularColumns, Hashable], ...]

    def serves(self, pod: Pod, framework: Framework, table: NodeTable) -> bool:
        """Whether ``pod``, which has the same spec object, has the column too."""
        if self.framework is not framework or self.column.classes is not table.classes:
            return False
        for plugin, version in self.versions:
            if plugin.column_version(table) != version:
                return False
        return alike(pod, self.pod)


@frozen(eq=False)
class _Common:
    """What pods have in common that differ in their requests alone, for one ``classes`` of the table.

    ``slots`` by position of the plugin; ``asked``: the plugins that must be asked for each pod. ``ground``: of the
    slots.
    """

    classes: NodeClasses
    slots: Sequence[Slot | None]
    asked: Sequence[tuple[int, NodePlugin]]
    ground: Ground


@define(eq=False)
class ColumnCache:
    """Columns by kind of pod: profile, signature, and what plugins read beyond the spec.

    ``fallbacks`` counts pods sent to the oracle, by the plugin that needs it.
    """

    table: NodeTable
    fallbacks: dict[str, int] = field(factory=dict)
    _columns: OrderedDict[int, SignatureColumn | str] = field(factory=OrderedDict)
    _beside: OrderedDict[tuple[int, int], tuple[SignatureColumn, SignatureColumn]] = field(factory=OrderedDict)
    _commons: OrderedDict[tuple[Hashable, ...], _Common] = field(factory=OrderedDict)
    _signatures: dict[PodSpec, tuple[Hashable, Hashable]] = field(factory=dict)
    _numbers: dict[tuple[object, ...], int] = field(factory=dict)
    _numbered: int = 0
    _particular: dict[str, tuple[ParticularColumns, ...]] = field(factory=dict)
    _known: dict[PodSpec, _Known] = field(factory=dict)
    _facts: FactsOfTable = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._facts = FactsOfTable(self.table)

    def of(self, framework: Framework, pod: Pod) -> SignatureColumn | None:
        """The column of the pod's kind; None = use the per-node form."""
        if pod.node_name:
            return None
        known = self._known.get(pod.spec)
        if known is not None and known.serves(pod, framework, self.table):
            return known.column if known.column.usable() else None
        plugins = self._particular.get(framework.profile.scheduler_name)
        if plugins is None:
            plugins = self._look_for_particular(framework)
        versions = tuple((plugin, plugin.column_version(self.table)) for plugin in plugins)  # asked before the keys
        column = self._find(framework, pod, plugins)
        if isinstance(column, str):
            self.fallbacks[column] = self.fallbacks.get(column, 0) + 1
            return None
        if len(self._known) >= MAX_COLUMNS:
            self._known.clear()
        self._known[pod.spec] = _Known(pod, framework, column, versions)
        return column if column.usable() else None

    def beside(
        self, framework: Framework, pod: Pod, column: SignatureColumn, nominations: Nominations
    ) -> SignatureColumn:
        """``column`` with the room that is promised to nominated pods of at least the pod's priority taken out."""
        key = (column.number, pod.priority)
        known = self._beside.get(key)
        if known is None or known[0] is not column:
            state = CycleState()
            framework.run_pre_filter(state, pod, self.table.infos)
            room = PromisedRoom(framework, self.table, nominations, pod, state, column.filters)
            known = self._beside[key] = (column, column.with_filter(room.columns))
            if len(self._beside) > MAX_COLUMNS:
                self._beside.popitem(last=False)
        self._beside.move_to_end(key)
        return known[1]

    def versions(self, framework: Framework) -> tuple[Hashable, ...]:
        """What tells whether the pods of a kind may have come to be of different kinds."""
        plugins = self._particular.get(framework.profile.scheduler_name)
        if plugins is None:
            plugins = self._look_for_particular(framework)
        return tuple(plugin.column_version(self.table) for plugin in plugins)

    def numbered(self, number: int) -> SignatureColumn | None:
        """The column of that number, if it is still kept."""
        column = self._columns.get(number)
        return column if isinstance(column, SignatureColumn) else None

    def _look_for_particular(self, framework: Framework) -> tuple[ParticularColumns, ...]:
        asked = (each.plugin for each in framework.node_plugins)
        plugins = tuple(plugin for plugin in asked if isinstance(plugin, ParticularColumns))
        self._particular[framework.profile.scheduler_name] = plugins
        return plugins

    def _find(self, framework: Framework, pod: Pod, plugins: Sequence[ParticularColumns]) -> SignatureColumn | str:
        keys = tuple(plugin.column_key(pod, self.table) for plugin in plugins)
        kind = (framework.profile.scheduler_name, self._signature(pod), keys)
        number = self._number(kind)
        known = self._columns.get(number)
        if known is None or (isinstance(known, SignatureColumn) and known.classes is not self.table.classes):
            self._known.clear()  # lets go of columns that are dropped, or made for nodes as they were
            known = self._columns[number] = self._build(framework, pod, number, keys)
            if len(self._columns) > MAX_COLUMNS:
                self._columns.popitem(last=False)
        self._columns.move_to_end(number)
        return known

    def _number(self, kind: tuple[object, ...]) -> int:
        """The number of a kind; one that was forgotten meanwhile gets another, for none is given twice."""
        number = self._numbers.get(kind)
        if number is None:
            if len(self._numbers) >= 16 * MAX_COLUMNS:
                self._numbers.clear()
            number = self._numbers[kind] = self._numbered
            self._numbered += 1
        return number

    def _signature(self, pod: Pod) -> tuple[Hashable, Hashable]:
        signature = self._signatures.get(pod.spec)
        if signature is None:
            if len(self._signatures) > 16 * MAX_COLUMNS:
                self._signatures.clear()
            signature = self._signatures[pod.spec] = signature_of(pod.spec)
        return signature

    def _build(self, framework: Framework, pod: Pod, number: int, keys: tuple[Hashable, ...]) -> SignatureColumn | str:
        """The column, or the name of the plugin that has no columnar form for this pod."""
        common = self._common(framework, pod, keys)
        if isinstance(common, str):
            return common
        slots, own = list(common.slots), []
        for at, asked in common.asked:
            columns = asked.columnar.columns(pod, self.table) if asked.columnar is not None else None
            if columns is None:
                return asked.plugin.name
            slot = slots[at] = Slot.of(columns, asked.weight, filters=asked.filters)
            if slot is not None:
                own.append(slot)
        present = [slot for slot in slots if slot is not None]
        particular = any(key is not None for key in keys)
        return SignatureColumn(
            self.table, present, common.ground, own, self._facts, number=number, particular=particular
        )

    def _common(self, framework: Framework, pod: Pod, keys: tuple[Hashable, ...]) -> _Common | str:
        """What the pod has in common with pods that request something else, or the name of a plugin as above."""
        place = (framework.profile.scheduler_name, self._signature(pod)[1], keys)
        known = self._commons.get(place)
        if known is None or known.classes is not self.table.classes:
            slots: list[Slot | None] = []
            asked: list[tuple[int, NodePlugin]] = []
            for at, each in enumerate(framework.node_plugins):
                slots.append(None)
                if not getattr(each.plugin, "ignores_requests", False):
                    asked.append((at, each))
                    continue
                columns = each.columnar.columns(pod, self.table) if each.columnar is not None else None
                if columns is None:
                    return each.plugin.name
                slots[at] = Slot.of(columns, each.weight, filters=each.filters)
            ground = Ground.of([slot for slot in slots if slot is not None], len(self.table.names))
            known = self._commons[place] = _Common(self.table.classes, slots, asked, ground)
            if len(self._commons) > MAX_COLUMNS:
                self._commons.popitem(last=False)
        return known

    def _check(self) -> None:
        """Assert that what is remembered of the table's rows is so (tests only)."""
        self._facts._check()


def alike(pod: Pod, other: Pod) -> bool:
    """Whether a column that one of the waiting pods has is for certain the other's, too, at the same time."""
    return (
        pod.spec is other.spec
        and (pod.labels is other.labels or pod.labels == other.labels)
        and pod.owner == other.owner
        and pod.namespace == other.namespace
        and pod.scheduler_name == other.scheduler_name
        and pod.node_name == other.node_name
    )


def signature_of(spec: PodSpec) -> tuple[Hashable, Hashable]:
    """Everything of a spec that a columnar plugin may read (node-plugins.md §6.4): what it requests, and the rest."""
    requests = spec.requests
    requested, other = requests.requested, requests.score_other
    wanted = (
        requested.milli_cpu,
        requested.memory,
        requested.ephemeral_storage,
        tuple(sorted(requested.scalars.items())),
        requests.nonzero_milli_cpu,
        requests.nonzero_memory,
        requests.score_milli_cpu,
        requests.score_memory,
        other.ephemeral_storage,
        tuple(sorted(other.scalars.items())),
    )
    rest = (
        spec.host_ports,
        spec.tolerations,
        None if spec.node_selector is None else tuple(sorted(spec.node_selector.items())),
        spec.node_affinity,
        tuple(container.image for container in (*spec.init_containers, *spec.containers)),
        spec.image_volumes,
        spec.has_affinity,
        spec.topology_spread_constraints,
        spec.claims,
        spec.resource_claims,
    )
    return wanted, rest
