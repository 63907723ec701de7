"""Which events may help a pod that its required terms, or those of others, rejected (spec node-plugins.md §7.10.5).

In hints a namespaceSelector is tested against empty labels: the namespaces are not looked up. Preferences, malformed
ones too, say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.objects import Node, Pod
from gangsched_plugins.inter_pod_affinity.terms import Terms, matches_all, matches_any, required_terms


def registrations() -> Iterable[ClusterEventWithHint]:
    """The registered events. A change of the pod's own labels always queues."""
    pod_events = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
    yield ClusterEventWithHint(ClusterEvent(Resource.ASSIGNED_POD, pod_events), _after_assigned_pod)
    yield ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), _after_node)
    yield ClusterEventWithHint(ClusterEvent(Resource.TARGET_POD, Action.UPDATE_POD_LABEL), _after_own_labels)


def _after_own_labels(pod: Pod, old: object, new: object) -> Hint:
    return Hint.QUEUE


def _after_assigned_pod(pod: Pod, old: object, new: object) -> Hint:
    other = new or old
    assert isinstance(other, Pod)
    if not (other.node_name or other.status.nominated_node_name):
        return Hint.SKIP
    near, away = _near(pod), _away(pod)
    if near is None or away is None:
        return Hint.QUEUE  # a hint that fails counts as Queue (spec podgroup-scheduling.md §2.7.1)
    if old is None:
        return _queue_if(matches_all(near, other))
    assert isinstance(old, Pod)
    if new is None:
        return _queue_if(_leaves_room(pod, away, old))
    starts = not matches_all(near, old) and matches_all(near, other)
    stops = matches_any(away, old) and not matches_any(away, other)
    return _queue_if(starts or stops)


def _leaves_room(pod: Pod, away: Terms, gone: Pod) -> bool:
    theirs = _away(gone)
    return theirs is None or matches_any(away, gone) or matches_any(theirs, pod)


def _after_node(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(new, Node)
    near, away = _near(pod), _away(pod)
    if near is None or away is None:
        return Hint.QUEUE
    before: Mapping[str, str] = old.labels if isinstance(old, Node) else {}
    for term in near:
        if term.key in new.labels and before.get(term.key) != new.labels[term.key]:
            return Hint.QUEUE
    if old is None:
        return _queue_if(bool(away))
    left = any(term.key in before and new.labels.get(term.key) != before[term.key] for term in away)
    return _queue_if(left)


def _near(pod: Pod) -> Terms | None:
    return required_terms(pod.spec.pod_affinity.required, pod.namespace)


def _away(pod: Pod) -> Terms | None:
    return required_terms(pod.spec.pod_anti_affinity.required, pod.namespace)


def _queue_if(helps: bool) -> Hint:
    return Hint.QUEUE if helps else Hint.SKIP
