"""One plugin, one pod, some nodes: what the plugin says of each. The tables of this folder are read with it.

Verdicts read ``Ok``, ``U <reasons>`` (Unschedulable), ``UU <reasons>`` (UnschedulableAndUnresolvable), ``E <reasons>``,
``Skip``, or ``excluded`` (not among the nodes that PreFilter names).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.events import Hint
from gangsched_framework.handle import Handle
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.objects import Node, Pod
from gangsched_framework.pod_spec import Container, PodSpec
from gangsched_framework.quantity import parse_amount
from gangsched_framework.status import Code, Status
from gangsched_framework.testing import FakeHandle, NodeBuilder, PodBuilder, make_node, make_pod, make_snapshot

_SHORT = {Code.UNSCHEDULABLE: "U", Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UU", Code.ERROR: "E", Code.SKIP: "Skip"}

Score = int | tuple[int, int]
"""Raw score, or (raw, normalised) of a plugin that normalises."""


def roomy(name: str) -> NodeBuilder:
    """The node of most tables: 4 CPUs, 8 GiB, 110 pods."""
    return make_node(name).capacity(cpu=4, memory="8Gi", pods=110)


def unheard_of(**quantities: str) -> Pod:
    """A pod that requests resources no API server would let it request."""
    requests = {name: parse_amount(quantity, name) for name, quantity in quantities.items()}
    return evolve(make_pod("p").obj(), spec=PodSpec((Container("main", requests=requests),)))


def verdict(status: Status | None) -> str:
    """A status as the tables write it."""
    if status is None or status.ok:
        return "Ok"
    return " ".join([_SHORT[status.code], *([status.message] if status.reasons else [])])


@frozen(kw_only=True)
class Case:
    """A row: ``want`` per node, ``want_scores`` per node the plugin itself lets through (``Skip`` = PreScore skips)."""

    name: str
    pod: Pod | PodBuilder
    nodes: Sequence[NodeBuilder]
    pods: Sequence[Pod | PodBuilder] = ()
    args: Mapping[str, Any] = field(factory=dict)
    gates: Mapping[str, bool] = field(factory=dict)
    want: Mapping[str, str] | None = None
    want_pre_filter: str = "Ok"
    want_scores: Mapping[str, Score] | str | None = None


def _pod(pod: Pod | PodBuilder) -> Pod:
    return pod if isinstance(pod, Pod) else pod.obj()


def handle_of(case: Case) -> FakeHandle:
    snapshot = make_snapshot([node.obj() for node in case.nodes], [_pod(pod) for pod in case.pods])
    return FakeHandle(snapshot, feature_gates=dict(case.gates))


def check(plugin_class: type[Any], case: Case) -> None:
    """Play a row against the plugin and compare."""
    handle = handle_of(case)
    plugin, pod, state = plugin_class(case.args, handle), _pod(case.pod), CycleState()
    nodes = list(handle.snapshot.nodes)
    feasible = nodes
    if case.want is not None:
        pre_filter, verdicts = _filter(plugin, pod, state, nodes)
        assert pre_filter == case.want_pre_filter
        assert verdicts == case.want
        feasible = [node for node in nodes if verdicts.get(node.name) == "Ok"]
    if case.want_scores is not None:
        assert _scores(plugin, pod, state, feasible) == case.want_scores


def _filter(plugin: Any, pod: Pod, state: CycleState, nodes: list[NodeInfo]) -> tuple[str, dict[str, str]]:
    names, status = plugin.pre_filter(state, pod, nodes)
    pre_filter = verdict(status)
    if pre_filter not in ("Ok", "Skip"):
        return pre_filter, {}
    verdicts = {}
    for node in nodes:
        if names is not None and node.name not in names:
            verdicts[node.name] = "excluded"
        else:
            answer = plugin.filter(state, pod, node) if pre_filter == "Ok" else None
            assert answer is None or answer.plugin == plugin.name
            verdicts[node.name] = verdict(answer)
    return pre_filter, verdicts


def _scores(plugin: Any, pod: Pod, state: CycleState, nodes: list[NodeInfo]) -> dict[str, Score] | str:
    if hasattr(plugin, "pre_score"):
        answer = verdict(plugin.pre_score(state, pod, nodes))
        if answer != "Ok":
            return answer
    raw = [plugin.score(state, pod, node) for node in nodes]
    if not hasattr(plugin, "normalize_score"):
        return dict(zip([node.name for node in nodes], raw, strict=True))
    normalized = raw.copy()
    assert plugin.normalize_score(state, pod, nodes, normalized) is None
    return {node.name: pair for node, pair in zip(nodes, zip(raw, normalized, strict=True), strict=True)}


@frozen(kw_only=True)
class HintCase:
    """A row about one event, by its label; ``want`` None = the plugin has not registered it."""

    name: str
    event: str
    pod: Pod | PodBuilder
    old: NodeBuilder | PodBuilder | None = None
    new: NodeBuilder | PodBuilder | None = None
    want: Hint | None


def check_hint(plugin_class: type[Any], case: HintCase, handle: Handle | None = None) -> None:
    """Play a row against the plugin and compare."""
    plugin = plugin_class({}, handle or FakeHandle())
    resource, _, action = case.event.partition("/")
    old, new = _object(case.old), _object(case.new)
    got = None
    for registration in plugin.events_to_register():
        registered, _, actions = registration.event.label.partition("/")
        if registered == resource and (action in actions.split("|") or actions == "All"):
            assert got is None, "registered twice"
            got = registration.hint(_pod(case.pod), old, new) if registration.hint is not None else Hint.QUEUE
    assert got is case.want


def _object(builder: NodeBuilder | PodBuilder | None) -> Node | Pod | None:
    return None if builder is None else builder.obj()


def registered_events(plugin: Any) -> list[str]:
    """Labels of the registered events, sorted; an unconditional one says so, as the recorded facts do."""
    always = " (always Queue)"
    return sorted(r.event.label + ("" if r.hint is not None else always) for r in plugin.events_to_register())
