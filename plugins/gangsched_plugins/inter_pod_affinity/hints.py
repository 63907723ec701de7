"""Which events may help a pod that its required terms, or those of others, rejected (spec node-plugins.md §7.10.5).

In hints a namespaceSelector is tested against empty labels: the namespaces are not looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.objects import Node, Pod
from gangsched_plugins.inter_pod_affinity.terms import PodTerms, compile_terms, matches_all, matches_any


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
    terms, problem = compile_terms(pod.spec, pod.namespace)
    if problem:
        return Hint.QUEUE  # a hint that fails counts as Queue (spec podgroup-scheduling.md §2.7.1)
    if old is None:
        return _queue_if(matches_all(terms.required_affinity, other))
    assert isinstance(old, Pod)
    if new is None:
        return _queue_if(_leaves_room(pod, terms, old))
    starts = not matches_all(terms.required_affinity, old) and matches_all(terms.required_affinity, other)
    stops = matches_any(terms.required_anti, old) and not matches_any(terms.required_anti, other)
    return _queue_if(starts or stops)


def _leaves_room(pod: Pod, terms: PodTerms, gone: Pod) -> bool:
    theirs, problem = compile_terms(gone.spec, gone.namespace)
    return bool(problem) or matches_any(terms.required_anti, gone) or matches_any(theirs.required_anti, pod)


def _after_node(pod: Pod, old: object, new: object) -> Hint:
    assert isinstance(new, Node)
    terms, problem = compile_terms(pod.spec, pod.namespace)
    if problem:
        return Hint.QUEUE
    before: Mapping[str, str] = old.labels if isinstance(old, Node) else {}
    for term in terms.required_affinity:
        if term.key in new.labels and before.get(term.key) != new.labels[term.key]:
            return Hint.QUEUE
    if old is None:
        return _queue_if(bool(terms.required_anti))
    left = any(term.key in before and new.labels.get(term.key) != before[term.key] for term in terms.required_anti)
    return _queue_if(left)


def _queue_if(helps: bool) -> Hint:
    return Hint.QUEUE if helps else Hint.SKIP
