"""Queues of Volcano, its PodGroups, and how pods and groups name their queue."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen

from gangsched.manifests import Decoder
from gangsched.manifests.errors import InputError
from gangsched_framework.objects import QUEUE_NAME, ClusterObject, Pod, PodGroup, Queue

API = "scheduling.volcano.sh/v1beta1"


def decode(kind: str, spec: dict[str, Any] | None = None, api: str = API, **others: Any) -> ClusterObject:
    name = {"metadata": {"name": "team-a", **others.pop("metadata", {})}}
    [decoded] = others.pop("decoder", Decoder()).decode(
        {"apiVersion": api, "kind": kind, **name, "spec": spec or {}, **others}
    )
    return decoded  # type: ignore[no-any-return]


def queue(spec: dict[str, Any] | None = None, **others: Any) -> Queue:
    decoded = decode("Queue", spec, **others)
    assert isinstance(decoded, Queue)
    return decoded


def test_a_queue_is_read_whole() -> None:
    read = queue(
        {
            "weight": 4,
            "capability": {"cpu": "10", "nvidia.com/gpu": 4},
            "deserved": {"cpu": "500m"},
            "guarantee": {"resource": {"cpu": "100m"}},
            "parent": "eng",
            "priority": 5,
            "reclaimable": False,
        },
        status={"state": "Closed"},
        metadata={"annotations": {"volcano.sh/hierarchy": "eng/dev", "volcano.sh/hierarchy-weights": "2/8"}},
    )
    assert (read.name, read.weight, read.parent, read.priority, read.reclaimable) == ("team-a", 4, "eng", 5, False)
    assert read.capability == {"cpu": 10 * 10**9, "nvidia.com/gpu": 4 * 10**9}
    assert (read.deserved, read.guarantee) == ({"cpu": 500 * 10**6}, {"cpu": 100 * 10**6})
    assert read.state == "Closed"
    assert read.annotations == {"volcano.sh/hierarchy": "root/eng/dev", "volcano.sh/hierarchy-weights": "1/2/8"}


def test_what_a_queue_does_not_say_has_defaults() -> None:
    read = queue()
    assert (read.weight, read.priority, read.reclaimable, read.state, read.parent) == (1, 0, True, "Open", "")
    assert read.capability is read.deserved is read.guarantee is None


def test_weight_0_counts_as_1() -> None:
    assert queue({"weight": 0}).weight == 1


@frozen
class Refused:
    name: str
    want: str
    spec: dict[str, Any] = {}  # noqa: RUF008
    annotations: dict[str, str] = {}  # noqa: RUF008
    status: dict[str, Any] = {}  # noqa: RUF008


HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
REFUSED = [
    Refused("a negative weight", "Queue/team-a: spec.weight: found number -1", {"weight": -1}),
    Refused("an unknown field", "spec.wieght: found an unknown field", {"wieght": 1}),
    Refused("an unreadable amount", "spec.capability.cpu: found", {"capability": {"cpu": "ten"}}),
    Refused(
        "a guarantee above what is deserved",
        "spec.guarantee.resource.cpu: found more than deserved",
        {"guarantee": {"resource": {"cpu": 3}}, "deserved": {"cpu": 2}},
    ),
    Refused(
        "deserving more than the capability",
        "spec.deserved.cpu: found more than capability",
        {"deserved": {"cpu": 3, "memory": "1Gi"}, "capability": {"cpu": 2}},
    ),
    Refused(
        "fewer weights than levels",
        'metadata.annotations["volcano.sh/hierarchy-weights"]: found 2 weights, allowed 3',
        annotations={HIERARCHY: "root/a/b", WEIGHTS: "1/2"},
    ),
    Refused(
        "weights without levels",
        'metadata.annotations["volcano.sh/hierarchy-weights"]: found 3 weights, allowed one, as there is no',
        annotations={WEIGHTS: "1/2/8"},
    ),
    Refused("a weight of 0", 'found text "1/0"', annotations={HIERARCHY: "root/a", WEIGHTS: "1/0"}),
    Refused("a weight that is no number", 'found text "1/x"', annotations={HIERARCHY: "root/a", WEIGHTS: "1/x"}),
    Refused("an empty level", 'found text "root//a"', annotations={HIERARCHY: "root//a", WEIGHTS: "1/1/1"}),
    Refused("an unknown state", 'status.state: found text "Shut"', status={"state": "Shut"}),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_refused(case: Refused) -> None:
    with pytest.raises(InputError) as refusal:
        queue(case.spec, status=case.status, metadata={"annotations": case.annotations})
    assert case.want in str(refusal.value)


def test_a_podgroup_of_volcano_is_a_gang_in_its_queue() -> None:
    group = decode("PodGroup", {"minMember": 3, "queue": "blue"})
    assert isinstance(group, PodGroup)
    assert (group.minimum, group.annotations[QUEUE_NAME], group.key) == (3, "blue", "podgroup/default/team-a")
    plain = decode("PodGroup", {})
    assert isinstance(plain, PodGroup)
    assert (plain.minimum, plain.annotations[QUEUE_NAME]) == (None, "default")


def test_what_a_podgroup_of_volcano_asks_for_in_vain_is_named() -> None:
    decoder = Decoder()
    decode("PodGroup", {"minMember": 1, "minTaskMember": {"a": 1}}, decoder=decoder)
    assert decoder.warnings == ["PodGroup/team-a: spec.minTaskMember: is not modelled and decides nothing here"]


def test_pods_join_a_podgroup_of_volcano_by_annotation() -> None:
    container = {"name": "main", "image": "x"}
    note = {"annotations": {"scheduling.k8s.io/group-name": "gang"}}
    pod = decode("Pod", {"containers": [container]}, "v1", metadata=note)
    assert isinstance(pod, Pod)
    assert pod.group_name == "gang"
    named = decode("Pod", {"containers": [container], "schedulingGroup": {"podGroupName": "own"}}, "v1", metadata=note)
    assert isinstance(named, Pod)
    assert named.group_name == "own"


def test_two_apis_may_not_have_a_podgroup_of_one_name() -> None:
    decoder = Decoder()
    decode("PodGroup", {"minMember": 1}, decoder=decoder)
    decode("PodGroup", {"minMember": 2}, decoder=decoder)
    kube: dict[str, Any] = {"schedulingPolicy": {"basic": {}}}
    with pytest.raises(InputError, match=r"found PodGroup default/team-a of scheduling\.k8s\.io, allowed one"):
        decode("PodGroup", kube, "scheduling.k8s.io/v1beta1", decoder=decoder)
    decode("PodGroup", kube, "scheduling.k8s.io/v1beta1", decoder=decoder, metadata={"namespace": "other"})
