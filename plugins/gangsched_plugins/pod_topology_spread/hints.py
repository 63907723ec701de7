"""Which events may help a pod that its hard constraints rejected (spec node-plugins.md §7.9.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, HintFunction, Resource
from gangsched_framework.objects import Node, Pod
from gangsched_plugins.common.selectors import SelectorError
from gangsched_plugins.pod_topology_spread.constraints import Constraint, has_keys

_POD_EVENTS = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
_NODE_EVENTS = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
_TARGET_EVENTS = Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION

Constraints = tuple[Constraint, ...]
Rule = Callable[[Constraints, Pod, object, object], bool]


def registrations(constraints_of: Callable[[Pod], Constraints]) -> Iterable[ClusterEventWithHint]:
    """The registered events; ``constraints_of`` gives the hard constraints of a waiting pod."""
    yield ClusterEventWithHint(ClusterEvent(Resource.ASSIGNED_POD, _POD_EVENTS), _hint(constraints_of, _assigned_pod))
    yield ClusterEventWithHint(ClusterEvent(Resource.NODE, _NODE_EVENTS), _hint(constraints_of, _node))
    yield ClusterEventWithHint(ClusterEvent(Resource.TARGET_POD, _TARGET_EVENTS), _hint(constraints_of, _target_pod))


def _hint(constraints_of: Callable[[Pod], Constraints], rule: Rule) -> HintFunction:
    def hint(pod: Pod, old: object, new: object) -> Hint:
        try:
            constraints = constraints_of(pod)
        except SelectorError:
            return Hint.QUEUE  # a hint that fails counts as Queue (spec podgroup-scheduling.md §2.7.1)
        return Hint.QUEUE if rule(constraints, pod, old, new) else Hint.SKIP

    return hint


def _assigned_pod(constraints: Constraints, pod: Pod, old: object, new: object) -> bool:
    other = new or old
    assert isinstance(other, Pod)
    if other.namespace != pod.namespace or not (other.node_name or other.status.nominated_node_name):
        return False
    if isinstance(old, Pod) and isinstance(new, Pod):
        return _matching_changes(constraints, old, new)
    return any(constraint.matcher.matches(other.labels) for constraint in constraints)


def _target_pod(constraints: Constraints, pod: Pod, old: object, new: object) -> bool:
    assert isinstance(old, Pod)
    assert isinstance(new, Pod)
    if old.spec.tolerations != new.spec.tolerations and any(c.honors_taints for c in constraints):
        return True
    return _matching_changes(constraints, old, new)


def _matching_changes(constraints: Constraints, old: Pod, new: Pod) -> bool:
    return any(c.matcher.matches(old.labels) != c.matcher.matches(new.labels) for c in constraints)


def _node(constraints: Constraints, pod: Pod, old: object, new: object) -> bool:
    before = isinstance(old, Node) and has_keys(constraints, old.labels)
    after = isinstance(new, Node) and has_keys(constraints, new.labels)
    if not (isinstance(old, Node) and isinstance(new, Node)) or before != after:
        return before or after
    return before and (old.taints != new.taints or any(old.labels[c.key] != new.labels[c.key] for c in constraints))
