"""API objects, pod specs and queue records as values (spec podgroup-scheduling.md §1)."""

from __future__ import annotations

import random

import pytest
from attrs import AttrsInstance, evolve, fields
from attrs.exceptions import FrozenInstanceError

from gangsched_framework.infos import PodGroupInfo, PoppedPodGroupInfo, QueuedPodInfo
from gangsched_framework.objects import Condition, EntityKey, Pod, PodStatus
from gangsched_framework.pod_spec import Container, ContainerPort, LabelSelector, PodSpec
from gangsched_framework.profile import PluginRef, Profile
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group, selector
from gangsched_framework.words import PHASES


def test_an_entity_key_is_its_text() -> None:
    key = EntityKey.of("podgroup", "ns", "a.b")
    assert key == "podgroup/ns/a.b"
    assert (key.kind, key.namespace, key.name, key.full_name) == ("podgroup", "ns", "a.b", "ns/a.b")


def test_a_group_and_all_that_name_it_hold_one_key() -> None:
    group = make_composite_pod_group("R", "ns").obj()
    assert make_pod_group("g", "ns").parent("R").obj().parent_key is group.key
    leaf = make_pod_group("g", "ns").obj()
    assert all(make_pod(name, "ns").in_group("g").obj().group_key is leaf.key for name in "ab")
    assert make_pod("a", "other").in_group("g").obj().group_key != leaf.key


def test_keys_sort_in_byte_order_composite_groups_first() -> None:
    keys = [
        make_composite_pod_group("z").obj().key,
        make_pod("node-10").obj().entity_key,
        make_pod("node-2").obj().entity_key,
        make_pod_group("a").obj().key,
    ]
    shuffled = keys.copy()
    random.Random(1).shuffle(shuffled)
    assert sorted(shuffled) == keys


def test_a_pod_names_its_group_in_its_own_namespace() -> None:
    assert make_pod("p", "ns").in_group("g").obj().group_key == "podgroup/ns/g"
    assert make_pod("p").obj().group_key is None
    assert make_pod_group("g", "ns").parent("R").obj().parent_key == "compositepodgroup/ns/R"


def test_finished_and_terminating_pods_are_told_apart() -> None:
    ended = [phase for phase in PHASES if make_pod("p").phase(phase).obj().terminal]
    assert ended == ["Succeeded", "Failed"]
    assert make_pod("p").terminating().obj().deleting
    assert not make_pod("p").obj().deleting


def test_a_condition_replaces_the_one_of_its_type_in_place() -> None:
    pod = make_pod("p").condition("A", "True").condition("B", "True").condition("A", "False", "Why").obj()
    assert [(c.type, c.status) for c in pod.status.conditions] == [("A", "False"), ("B", "True")]
    found = pod.condition("A")
    assert found is not None
    assert found.reason == "Why"
    assert pod.condition("C") is None
    assert pod.with_condition(Condition("C", "True")).condition("C") is not None


def test_a_bound_pod_is_the_same_pod_on_a_node() -> None:
    pod = make_pod("p").label("a", "b").obj()
    bound = pod.bound_to("n1")
    assert (bound.node_name, bound.key, bound.uid, bound.labels) == ("n1", pod.key, pod.uid, pod.labels)
    assert pod.node_name == ""


def test_a_copy_differs_in_what_was_asked_alone_and_is_frozen() -> None:
    pod = make_pod("p").label("a", "b").annotation("c", "d").in_group("g").priority(3).condition("A", "True").obj()
    assert _differing(pod, pod.bound_to("n1")) == ["node_name"]
    assert _differing(pod, pod.with_status(PodStatus("Running"))) == ["status"]
    for group in (make_pod_group("g").obj(), make_composite_pod_group("G").priority(1).min_group_count(2).obj()):
        copy = group.with_condition(Condition("A", "True"))
        assert _differing(group, copy) == ["conditions"]
        assert type(copy) is type(group)
        with pytest.raises(FrozenInstanceError):
            copy.name = "q"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        pod.bound_to("n1").name = "q"  # type: ignore[misc]


def _differing(one: AttrsInstance, other: AttrsInstance) -> list[str]:
    return [each.name for each in fields(type(one)) if getattr(one, each.name) is not getattr(other, each.name)]


def test_a_renamed_copy_has_the_key_of_its_name() -> None:
    assert evolve(make_pod("p").obj(), name="q").key == "default/q"
    assert evolve(make_pod_group("p").obj(), name="q").key == "podgroup/default/q"


def test_requests_and_ports_are_computed_once_for_all_pods_of_a_template() -> None:
    spec = PodSpec((Container("c", requests={"cpu": 10**9}),))
    one, two = Pod("default", "a", "1", spec), Pod("default", "b", "2", spec)
    assert one.incoming is two.usage


def test_host_ports_are_those_of_containers_and_sidecars() -> None:
    def container(port: int, policy: str = "") -> Container:
        return Container("c", ports=(ContainerPort(port, 80), ContainerPort(0, 81)), restart_policy=policy)

    spec = PodSpec(
        (container(1), Container("d", ports=(ContainerPort(2, 80, ""),))), (container(3), container(4, "Always"))
    )
    assert spec.host_ports == (("0.0.0.0", "TCP", 1), ("0.0.0.0", "TCP", 2), ("0.0.0.0", "TCP", 4))


@pytest.mark.parametrize(
    "pod, want",
    [
        (make_pod("p").obj(), False),
        (make_pod("p").affinity("zone", {}).obj(), True),
        (make_pod("p").anti_affinity("zone", {}, weight=1).obj(), True),
        (make_pod("p").node_affinity("a", "b").spread("zone", {}).obj(), False),
    ],
)
def test_only_terms_about_other_pods_are_pod_affinity(pod: Pod, want: bool) -> None:
    assert pod.spec.has_affinity is want


def test_an_empty_selector_is_not_an_absent_one() -> None:
    assert selector(None) is None
    assert selector({}) == LabelSelector()
    assert LabelSelector().empty
    assert not LabelSelector((("a", "b"),)).empty


def test_a_tree_walks_depth_first_in_child_order() -> None:
    leaves = [PodGroupInfo(make_pod_group(name).obj()) for name in "abc"]
    inner = PodGroupInfo(make_composite_pod_group("M").obj(), tuple(leaves[1:]))
    root = PodGroupInfo(make_composite_pod_group("R").obj(), (leaves[0], inner))
    assert [info.group.name for info in root.walk()] == ["R", "a", "M", "b", "c"]
    assert list(root.leaves()) == leaves


def test_members_of_a_popped_group_come_in_tree_order() -> None:
    leaves = [PodGroupInfo(make_pod_group(name).obj()) for name in "abc"]
    root = PodGroupInfo(make_composite_pod_group("R").priority(7).obj(), tuple(leaves))
    queued = {name: QueuedPodInfo(make_pod(name).obj(), 0) for name in ("a2", "a1", "c1")}
    waiting = {leaves[2].key: [queued["c1"]], leaves[0].key: [queued["a2"], queued["a1"]]}
    popped = PoppedPodGroupInfo(root.key, root, waiting)
    assert [info.pod.name for info in popped.members()] == ["a2", "a1", "c1"]
    assert popped.priority == 7
    assert list(queued["a1"].members()) == [queued["a1"]]


def test_a_profile_lists_each_plugin_once_in_order_of_appearance() -> None:
    refs = {"preFilter": ("B", "A"), "filter": ("A", "C")}
    profile = Profile("s", {point: tuple(PluginRef(name) for name in names) for point, names in refs.items()})
    assert profile.plugin_names() == ("B", "A", "C")


def test_objects_are_compared_by_identity() -> None:
    assert make_node("n").obj() != make_node("n").obj()
    assert make_pod("p").obj() != make_pod("p").obj()
