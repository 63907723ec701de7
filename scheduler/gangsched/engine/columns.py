"""Which pods can be placed by columns, and the columns of each signature (architecture.md §5).

A pod's signature is the content of its spec: everything a columnar plugin may read. Columns of a signature are made
when it is met, dropped when nodes change, and bounded in number; a plugin without a columnar form for a pod sends that
signature to the per-node form (the oracle).
"""

from __future__ import annotations

from collections import OrderedDict

from attrs import define, field

from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.columns import ColumnarPlugin, Columns
from gangsched_framework.framework import Framework
from gangsched_framework.node_table import NodeTable
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import PodSpec

MAX_COLUMNS = 1024
"""Signatures kept; a column costs 4 bytes and two list entries a node."""


@define(eq=False)
class ColumnCache:
    """Columns by (profile, signature). ``fallbacks`` counts pods sent to the oracle, by the plugin that needs it."""

    table: NodeTable
    fallbacks: dict[str, int] = field(factory=dict)
    _columns: OrderedDict[tuple[str, object], SignatureColumn | str] = field(factory=OrderedDict)
    _signatures: dict[PodSpec, tuple[object, ...]] = field(factory=dict)
    _numbers: dict[tuple[object, ...], int] = field(factory=dict)
    _last: tuple[PodSpec, Framework, SignatureColumn] | None = None

    def of(self, framework: Framework, pod: Pod) -> SignatureColumn | None:
        """The column of the pod's signature; None = use the per-node form."""
        if pod.node_name:
            return None
        last, classes = self._last, self.table.classes
        if last is not None and last[0] is pod.spec and last[1] is framework and last[2].classes is classes:
            column: SignatureColumn | str = last[2]
        else:
            column = self._find(framework, pod)
        if isinstance(column, str):
            self.fallbacks[column] = self.fallbacks.get(column, 0) + 1
            return None
        self._last = (pod.spec, framework, column)
        return column if column.usable() else None

    def _find(self, framework: Framework, pod: Pod) -> SignatureColumn | str:
        key = (framework.profile.scheduler_name, self._signature(pod))
        known = self._columns.get(key)
        if known is None or (isinstance(known, SignatureColumn) and known.classes is not self.table.classes):
            known = self._columns[key] = self._build(framework, pod)
            if len(self._columns) > MAX_COLUMNS:
                self._columns.popitem(last=False)
        self._columns.move_to_end(key)
        return known

    def number(self, pod: Pod) -> int:
        """A number for the pod's signature: equal signatures, equal numbers."""
        return self._numbers.setdefault(self._signature(pod), len(self._numbers))

    def _signature(self, pod: Pod) -> tuple[object, ...]:
        signature = self._signatures.get(pod.spec)
        if signature is None:
            if len(self._signatures) > 16 * MAX_COLUMNS:
                self._signatures.clear()
            signature = self._signatures[pod.spec] = signature_of(pod.spec)
        return signature

    def _build(self, framework: Framework, pod: Pod) -> SignatureColumn | str:
        """The column, or the name of the plugin that has no columnar form for this pod."""
        parts: list[Columns] = []
        weights: list[int] = []
        for asked in framework.node_plugins:
            plugin = asked.plugin
            columns = plugin.columns(pod, self.table) if isinstance(plugin, ColumnarPlugin) else None
            if columns is None or not asked.prepared:
                return plugin.name
            parts.append(
                Columns(
                    columns.filter if asked.filters else None, columns.score if asked.weight else None, columns.guard
                )
            )
            weights.append(asked.weight)
        return SignatureColumn(self.table, parts, weights)


def signature_of(spec: PodSpec) -> tuple[object, ...]:
    """Everything of a spec that a columnar plugin may read, as a hashable value (node-plugins.md §6.4)."""
    requests = spec.requests
    scalars = tuple(sorted(requests.requested.scalars.items()))
    return (
        requests.requested.milli_cpu,
        requests.requested.memory,
        requests.requested.ephemeral_storage,
        scalars,
        requests.score_milli_cpu,
        requests.score_memory,
        requests.score_other.ephemeral_storage,
        tuple(sorted(requests.score_other.scalars.items())),
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
