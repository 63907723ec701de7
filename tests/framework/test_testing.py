"""The builders and fakes that authors of plugins get."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangsched_framework.cycle_state import CycleState, PlacementCycleState, PodGroupCycleState
from gangsched_framework.errors import GangschedError
from gangsched_framework.handle import Handle
from gangsched_framework.infos import PodGroupInfo
from gangsched_framework.objects import Taint
from gangsched_framework.placement import Progress
from gangsched_framework.pod_spec import Toleration
from gangsched_framework.registry import Registry
from gangsched_framework.resources import Resources
from gangsched_framework.status import Code, unschedulable
from gangsched_framework.testing import (
    AlwaysFits,
    FakeHandle,
    ScriptedFilter,
    ScriptedPlacementFeasible,
    ScriptedScore,
    make_composite_pod_group,
    make_node,
    make_pod,
    make_pod_group,
    make_pods,
    make_snapshot,
)


def test_a_node_reads_as_it_is_written() -> None:
    node = (
        make_node("n1")
        .capacity(cpu="1500m", memory="8Gi", ephemeral_storage="1Gi", pods=110, **{"nvidia.com/gpu": 8})
        .label("zone", "a")
        .taint("k", "v", "NoExecute")
        .image("a:1", "a:latest", size="10Mi")
        .obj()
    )
    assert node.allocatable == Resources(1500, 2**33, 2**30, 110, {"nvidia.com/gpu": 8})
    assert (node.uid, node.labels, node.taints) == ("Node|n1#1", {"zone": "a"}, (Taint("k", "v", "NoExecute"),))
    assert (node.images[0].names, node.images[0].size) == (("a:1", "a:latest"), 10 * 2**20)


def test_a_pod_reads_as_it_is_written() -> None:
    pod = (
        make_pod("p", "ns")
        .requests(cpu="500m", memory="1Gi")
        .host_port(8080)
        .container(cpu=1)
        .host_port(53, "UDP", "10.0.0.1")
        .init_container(sidecar=True, cpu=1)
        .in_group("train")
        .priority(3)
        .node("n1")
        .label("app", "web")
        .tolerates("k", "v", "NoSchedule")
        .tolerates()
        .gate("a", "b")
        .obj()
    )
    assert (pod.uid, pod.key, pod.group_key) == ("Pod|ns/p#1", "ns/p", "podgroup/ns/train")
    assert pod.incoming.requested == Resources(2500, 2**30)
    assert pod.spec.host_ports == (("0.0.0.0", "TCP", 8080), ("10.0.0.1", "UDP", 53))
    assert pod.spec.tolerations == (Toleration("k", "Equal", "v", "NoSchedule"), Toleration("", "Exists"))
    assert (pod.priority, pod.node_name, pod.labels, pod.scheduling_gates) == (3, "n1", {"app": "web"}, ("a", "b"))


POD, NODE, GROUP = make_pod("p"), make_node("n"), make_pod_group("g")
EFFECTS = "'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
RESOURCES = "cpu, memory, ephemeral-storage, hugepages-* or a name with a domain such as example.com/gpu"

MISTAKES: dict[str, tuple[Callable[[], object], str]] = {
    "a misspelt effect": (
        lambda: NODE.taint("k", effect="NoScedule"),  # type: ignore[arg-type]
        f"taint: effect: found 'NoScedule', allowed {EFFECTS}; did you mean \"NoSchedule\"?",
    ),
    "an operator in the wrong case": (
        lambda: POD.node_affinity("disk", "ssd", operator="in"),  # type: ignore[arg-type]
        "node_affinity: operator: found 'in', allowed 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'; "
        'did you mean "In"?',
    ),
    "a word of another field": (
        lambda: POD.tolerates("k", operator="In"),  # type: ignore[arg-type]
        "tolerates: operator: found 'In', allowed 'Exists', 'Equal', 'Lt', 'Gt', ''",
    ),
    "a misspelt consequence": (
        lambda: POD.spread("zone", when="ScheduleAnyways"),  # type: ignore[arg-type]
        "spread: when: found 'ScheduleAnyways', allowed 'DoNotSchedule', 'ScheduleAnyway'; "
        'did you mean "ScheduleAnyway"?',
    ),
    "a misspelt policy": (
        lambda: GROUP.preemption_policy("never"),  # type: ignore[arg-type]
        "preemption_policy: policy: found 'never', allowed 'PreemptLowerPriority', 'Never'; did you mean \"Never\"?",
    ),
    "a status that is no text": (
        lambda: POD.condition("Ready", True),  # type: ignore[arg-type]
        "condition: status: found True, allowed 'True', 'False', 'Unknown'",
    ),
    "a restart policy for a sidecar": (
        lambda: POD.init_container(sidecar="Always"),  # type: ignore[arg-type]
        "init_container: sidecar: found 'Always', allowed True or False",
    ),
    "an unknown keyword": (
        lambda: POD.spread("zone", max_skw=2),  # type: ignore[call-arg]
        "spread: max_skw: found an unknown keyword, allowed topology_key, labels, max_skew, when; "
        'did you mean "max_skew"?',
    ),
    "a misspelt resource": (
        lambda: POD.requests(memmory="1Gi"),
        f"found resource 'memmory', allowed {RESOURCES}; did you mean \"memory\"?",
    ),
    "pods as a request": (lambda: POD.requests(pods=1), f"found resource 'pods', allowed {RESOURCES}"),
    "an amount that is none": (
        lambda: POD.requests(cpu="a lot"),
        "cpu: found 'a lot', allowed a quantity such as 2, 500m or 1.5Gi (quantities must match",
    ),
    "an amount of another type": (
        lambda: NODE.capacity(cpu=None),  # type: ignore[arg-type]
        "capacity: cpu: found None, allowed a whole number, a number, text",
    ),
    "a name that is a number": (
        lambda: make_pod(3),  # type: ignore[arg-type]
        "make_pod: name: found 3, allowed text",
    ),
    "a count that is text": (
        lambda: make_pods("3"),  # type: ignore[arg-type]
        "make_pods: count: found '3', allowed a whole number",
    ),
    "a minimum that is a truth": (
        lambda: GROUP.min_count(True),
        "min_count: pods: found True, allowed a whole number",
    ),
    "a gate that is no text, behind one that is": (
        lambda: POD.gate("a", 3),  # type: ignore[arg-type]
        "gate: names: found 3, allowed text",
    ),
    "labels in one text": (
        lambda: POD.affinity("zone", "app=web"),  # type: ignore[arg-type]
        "affinity: labels: found 'app=web', allowed a mapping of texts to texts, a LabelSelector, None",
    ),
    "a label that is a number": (
        lambda: POD.affinity("zone", {"app": 1}),  # type: ignore[dict-item]
        "affinity: labels: found {'app': 1}, allowed a mapping of texts to texts, a LabelSelector, None",
    ),
    "a builder for an object": (
        lambda: POD.in_group(GROUP),  # type: ignore[arg-type]
        "in_group: group: found a PodGroupBuilder, allowed text, a PodGroup; did you forget .obj()?",
    ),
    "a status of no container": (
        lambda: POD.allocated(cpu=1),
        "allocated: found a pod without a container, allowed one with requests",
    ),
}


@pytest.mark.parametrize("build, want", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_at_the_call_that_makes_it(build: Callable[[], object], want: str) -> None:
    with pytest.raises(GangschedError) as caught:
        build()
    assert str(caught.value).startswith(want)
    assert "\n" not in str(caught.value)


def test_a_call_without_its_argument_is_pythons_matter() -> None:
    with pytest.raises(TypeError, match="priority"):
        POD.priority()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="priority"):
        POD.priority(1, 2)  # type: ignore[call-arg]


def test_affinity_and_spread_terms_accumulate() -> None:
    pod = (
        make_pod("p")
        .affinity("zone", {"app": "db"})
        .affinity("zone", {"app": "cache"}, weight=10)
        .anti_affinity("host", {"app": "web"})
        .spread("zone", {"app": "web"}, max_skew=2, when="ScheduleAnyway")
        .node_affinity("disk", "ssd")
        .node_affinity("cpu", "5", operator="Gt", weight=3)
        .obj()
    )
    assert (len(pod.spec.pod_affinity.required), len(pod.spec.pod_affinity.preferred)) == (1, 1)
    assert pod.spec.pod_anti_affinity.required[0].topology_key == "host"
    assert pod.spec.topology_spread_constraints[0].max_skew == 2
    assert pod.spec.node_affinity is not None
    assert pod.spec.node_affinity.required is not None
    assert pod.spec.node_affinity.preferred[0].term.match_expressions[0].operator == "Gt"


def test_a_builder_is_a_value() -> None:
    base = make_pod("p").requests(cpu=1)
    first, second = base.priority(1).obj(), base.priority(2).obj()
    assert (base.obj().priority, first.priority, second.priority) == (0, 1, 2)


def test_like_pods_share_their_spec_and_have_their_own_uids() -> None:
    pods = make_pods(3, prefix="train").in_group("train").requests(cpu=2).obj()
    assert [pod.name for pod in pods] == ["train-0", "train-1", "train-2"]
    assert [pod.uid for pod in pods] == [f"Pod|default/train-{i}#1" for i in range(3)]
    assert pods[0].key == "default/train-0"
    assert pods[0].spec is pods[2].spec


def test_groups_are_basic_until_a_minimum_is_given() -> None:
    assert not make_pod_group("g").obj().gang
    leaf = make_pod_group("g").min_count(3).parent("root").priority(5).topology("rack").obj()
    root = make_composite_pod_group("root").min_group_count(2).obj()
    assert (leaf.required, leaf.parent_key, leaf.effective_priority, leaf.topology_key) == (3, root.key, 5, "rack")
    assert (root.required, root.uid) == (2, "CompositePodGroup|default/root#1")


def test_the_fake_handle_is_a_handle_over_its_snapshot() -> None:
    group = make_pod_group("g").obj()
    pods = [make_pod("a").requests(cpu=1).node("n1").in_group(group).obj(), make_pod("b").in_group(group).obj()]
    fake = FakeHandle(make_snapshot([make_node("n1").capacity(cpu=4).obj()], pods, [group]))
    handle: Handle = fake
    fake.clock.advance(5)
    fake.nominations.nominate(pods[1], "n1")
    assert handle.clock.time == 5
    assert handle.snapshot.nodes[0].requested_milli_cpu == 1000
    assert handle.forest.ready(group.key)
    assert handle.snapshot.scheduled(group.key) == 1
    assert list(handle.nominations.nominated_pods("n1")) == [pods[1]]
    assert (handle.nominations.nominated_node(pods[1]), handle.nominations.nominated_node(pods[0])) == ("n1", "")
    assert handle.framework_for("default-scheduler") is None


def test_scripted_plugins_answer_as_told_and_can_be_registered() -> None:
    handle = FakeHandle(make_snapshot([make_node("n1").obj(), make_node("n2").obj()]))
    plugins = [AlwaysFits, ScriptedFilter, ScriptedScore, ScriptedPlacementFeasible]
    registry = Registry({plugin.__name__: plugin for plugin in plugins})
    assert registry.build("ScriptedFilter", {}, handle).name == "ScriptedFilter"
    refusal = unschedulable("no")
    fit, score = ScriptedFilter({"answers": {"n1": refusal}}, handle), ScriptedScore({"answers": {"n2": 7}}, handle)
    state, pod = CycleState(), make_pod("p").obj()
    assert [fit.filter(state, pod, node) for node in handle.snapshot.nodes] == [refusal, None]
    assert [score.score(state, pod, node) for node in handle.snapshot.nodes] == [0, 7]


def test_a_surplus_call_of_a_scripted_placement_feasible_is_refused() -> None:
    plugin = ScriptedPlacementFeasible({"answers": {"g": [None]}}, FakeHandle())
    state, info = PlacementCycleState(PodGroupCycleState()), PodGroupInfo(make_pod_group("g").obj())
    assert plugin.placement_feasible(state, info, Progress(1, 0)) is None
    surplus = plugin.placement_feasible(state, info, Progress(0, 1))
    assert surplus is not None
    assert surplus.code is Code.UNSCHEDULABLE
    assert plugin.asked == [("g", Progress(1, 0)), ("g", Progress(0, 1))]
