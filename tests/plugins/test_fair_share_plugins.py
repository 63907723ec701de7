"""Tiers in the whole cycle: who is popped next, who is passed over and why, what a cycle refuses, who is woken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from attrs import evolve, field, frozen

from gangsched import CycleReport, Engine
from gangsched_framework.objects import QUEUE_NAME, ClusterObject, CompositePodGroup, Pod, PodGroup, Queue
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group

CPU = 10**9


def config(*tiers: str, **args: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {
                    "multiPoint": {"disabled": [{"name": "DynamicResources"}]},
                    "queueSort": {"enabled": [{"name": tier} for tier in tiers]},
                },
                "pluginConfig": [{"name": name, "args": each} for name, each in args.items()],
            }
        ],
    }


def queue(name: str, weight: int = 1, **others: Any) -> Queue:
    return Queue(name, weight=weight, **others)


def cpus(count: float) -> dict[str, int]:
    return {"cpu": int(count * CPU)}


def pod(
    name: str, tenant: str = "", cpu: str = "1", age: int = 0, group: str = "", priority: int = 0, **more: str
) -> Pod:
    built = make_pod(name).requests(cpu=cpu, **more).created(age).priority(priority)
    built = built.in_group(group) if group else built
    return (built.annotation(QUEUE_NAME, tenant) if tenant else built).obj()


def hierarchy(path: str, weights: str) -> dict[str, str]:
    return {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights}


def pods(prefix: str, count: int, tenant: str = "", **others: Any) -> list[Pod]:
    return [pod(f"{prefix}{number}", tenant, **others) for number in range(count)]


def gang(name: str, minimum: int, tenant: str, **others: Any) -> PodGroup:
    return evolve(make_pod_group(name).min_count(minimum).annotation(QUEUE_NAME, tenant).obj(), **others)


def node(name: str, cpu: int) -> ClusterObject:
    return make_node(name).capacity(cpu=cpu, memory="100Gi", pods=110).obj()


def engine_with(tiers: Sequence[str], objects: Sequence[ClusterObject], **args: Mapping[str, Any]) -> Engine:
    engine = Engine(config(*tiers, **args))
    for obj in objects:
        engine.apply(obj)
    return engine


def bound(engine: Engine) -> dict[str, int]:
    """How many pods of each prefix have a node."""
    counts: dict[str, int] = {}
    for key in engine.bindings:
        prefix = key.split("/")[1].rstrip("0123456789")
        counts[prefix] = counts.get(prefix, 0) + 1
    return counts


def order(engine: Engine) -> list[str]:
    """The entities in the order in which they are popped, without prefix."""
    return order_of(engine.run())


def reasons(engine: Engine) -> dict[str, str]:
    return {state.key.name: state.reason for state in engine.queue_state().active}


PROPORTION = ("DRF", "Proportion")


@frozen
class Shared:
    """A cluster of 10 cpu, played to its end; ``want``: pods bound by prefix."""

    name: str
    queues: list[Queue]
    pods: list[Pod]
    want: dict[str, int]
    tiers: tuple[str, ...] = PROPORTION
    cpu: int = 10
    args: dict[str, Any] = field(factory=dict)


SHARED = [
    Shared(
        "weights 4 and 1 divide the cluster",
        [queue("a", 4), queue("b")],
        [*pods("a", 12, "a"), *pods("b", 12, "b")],
        {"a": 8, "b": 2},
    ),
    Shared(
        "what one does not ask for goes to the other",
        [queue("a", 4), queue("b")],
        [*pods("a", 3, "a"), *pods("b", 12, "b")],
        {"a": 3, "b": 7},
    ),
    Shared("E70: a tenant alone may have everything", [queue("a")], pods("a", 12, "a"), {"a": 10}),
    Shared(
        "pods without annotation belong to the queue default, which exists",
        [queue("a")],
        [*pods("a", 12, "a"), *pods("d", 12)],
        {"a": 5, "d": 5},
    ),
    Shared(
        "a real queue default has its own weight",
        [queue("a"), queue("default", 4)],
        [*pods("a", 12, "a"), *pods("d", 12)],
        {"a": 2, "d": 8},
    ),
    Shared(
        "a capability limits, and the rest goes to the other",
        [queue("a", capability=cpus(3)), queue("b")],
        [*pods("a", 12, "a"), *pods("b", 12, "b")],
        {"a": 3, "b": 7},
    ),
    Shared(
        "P21r, E82: a deserved amount a hair short of the request does not refuse the pod",
        [queue("a", 1), queue("b", 4), queue("c", 2)],
        [pod("a0", "a"), pod("b0", "b"), *pods("c", 4, "c")],
        {"a": 1, "b": 1, "c": 2},
        cpu=4,
    ),
    Shared(
        "an unknown queue gets nothing",
        [queue("b")],
        [*pods("a", 2, "nobody"), *pods("b", 2, "b")],
        {"b": 2},
    ),
    Shared(
        "E73, PF7: a closed queue gets nothing",
        [queue("a", state="Closed"), queue("b")],
        [*pods("a", 2, "a"), *pods("b", 2, "b")],
        {"b": 2},
    ),
    Shared(
        "Capacity: a quota orders, the capability limits",
        [queue("a", deserved=cpus(2), capability=cpus(4)), queue("b", deserved=cpus(8))],
        [*pods("a", 12, "a"), *pods("b", 12, "b")],
        {"a": 2, "b": 8},
        ("Capacity",),
    ),
    Shared(
        "Capacity: what is left over may be taken up to the capability",
        [queue("a", deserved=cpus(2), capability=cpus(4)), queue("b", deserved=cpus(8))],
        [*pods("a", 12, "a"), *pods("b", 1, "b")],
        {"a": 4, "b": 1},
        ("Capacity",),
    ),
    Shared(
        "Capacity in a tree: the parent's capability limits its children together",
        [queue("p", capability=cpus(3)), queue("a", parent="p"), queue("b", parent="p"), queue("c")],
        [*pods("a", 9, "a"), *pods("b", 9, "b"), *pods("c", 2, "c")],
        {"a": 3, "c": 2},
        ("Capacity",),
        args={"Capacity": {"hierarchical": True}},
    ),
    Shared(
        "E87: jobs in an inner queue of a tree stop everybody",
        [queue("p"), queue("a", parent="p")],
        [*pods("p", 1, "p"), *pods("a", 1, "a")],
        {},
        ("Capacity",),
        args={"Capacity": {"hierarchical": True}},
    ),
    Shared(
        "E62: departments of weight 3 and 1 under HDRF",
        [queue(name, annotations=hierarchy(f"root/{name}", weights)) for name, weights in (("a", "1/3"), ("b", "1/1"))],
        [*pods("a", 8, "a"), *pods("b", 8, "b")],
        {"a": 6, "b": 2},
        ("HDRF",),
        cpu=8,
    ),
    Shared(
        "HE9 on paper: weights count inside a department too",
        [
            queue(name, annotations=hierarchy(path, weights))
            for name, path, weights in (
                ("dev", "root/eng/dev", "1/1/2"),
                ("prod", "root/eng/prod", "1/1/8"),
                ("sci", "root/sci", "1/1"),
            )
        ],
        [*pods("dev", 30, "dev"), *pods("prod", 30, "prod"), *pods("sci", 30, "sci")],
        {"dev": 3, "prod": 12, "sci": 15},
        ("HDRF",),
        cpu=30,
        args={"HDRF": {"mode": "paper"}},
    ),
    Shared(
        "E54: a tenant that contradicts another about a weight is not served",
        [
            queue(
                name, annotations={"volcano.sh/hierarchy": f"root/eng/{name}", "volcano.sh/hierarchy-weights": weights}
            )
            for name, weights in (("a", "1/2/1"), ("b", "1/5/1"))
        ],
        [*pods("a", 2, "a"), *pods("b", 2, "b")],
        {"a": 2},
        ("HDRF",),
    ),
]


@pytest.mark.parametrize("case", SHARED, ids=lambda case: case.name)
def test_who_gets_what(case: Shared) -> None:
    engine = engine_with(case.tiers, [node("n", case.cpu), *case.queues, *case.pods], **case.args)
    engine.run()
    assert bound(engine) == case.want
    engine.core._check()


@frozen
class Ordered:
    """One cpu for each; ``want``: the entities in the order they are popped."""

    name: str
    tiers: tuple[str, ...]
    objects: list[ClusterObject]
    want: list[str]


def bound_pod(name: str, on: str, group: str = "", tenant: str = "", cpu: str = "1") -> Pod:
    return evolve(pod(name, tenant, cpu, group=group), node_name=on)


ORDERED = [
    Ordered(
        "E22: equal in everything, the older first, then by name",
        ("Priority", "DRF", "Proportion"),
        [pod("young", age=5), pod("b", age=1), pod("a", age=1)],
        ["a", "b", "young"],
    ),
    Ordered(
        "Priority before DRF",
        ("Priority", "DRF"),
        [
            gang("rich", 1, "default", priority=5),
            evolve(bound_pod("r0", "n", "rich"), priority=5),
            pod("r1", group="rich", priority=5),
            pod("poor"),
        ],
        ["rich", "poor"],
    ),
    Ordered(
        "E20: DRF before Priority",
        ("DRF", "Priority"),
        [
            gang("rich", 1, "default", priority=5),
            evolve(bound_pod("r0", "n", "rich"), priority=5),
            pod("r1", group="rich", priority=5),
            pod("poor"),
        ],
        ["poor", "rich"],
    ),
    Ordered(
        "E21, E96: Gang before DRF: who lacks his minimum comes before who only grows",
        ("Gang", "DRF"),
        [
            gang("grows", 1, "default", creation_timestamp=1),
            bound_pod("g0", "n", "grows", cpu="100m"),
            pod("g1", group="grows"),
            gang("lacks", 2, "default", creation_timestamp=2),
            bound_pod("l0", "n", "lacks", cpu="2"),
            pod("l1", group="lacks"),
        ],
        ["lacks", "grows"],
    ),
    Ordered(
        "E90: a queue's priority before its share",
        ("Proportion",),
        [queue("a", priority=10), queue("b"), bound_pod("a0", "n", "", "a", "5"), pod("a1", "a"), pod("b1", "b")],
        ["a1", "b1"],
    ),
    Ordered(
        "the tenant of the smaller share first, though its job is younger",
        ("DRF", "Proportion"),
        [queue("a"), queue("b"), bound_pod("a0", "n", "", "a"), pod("a1", "a", age=1), pod("b1", "b", age=2)],
        ["b1", "a1"],
    ),
    Ordered(
        "a job's share counts the pods it has bound, in other leaves of its tree too",
        ("DRF",),
        [
            make_composite_pod_group("tree").min_group_count(1).obj(),
            make_pod_group("one").min_count(1).parent("tree").obj(),
            make_pod_group("two").min_count(1).parent("tree").obj(),
            bound_pod("t0", "n", "one"),
            pod("t1", group="two", age=1),
            pod("plain", age=2),
        ],
        ["plain", "tree"],
    ),
]


@pytest.mark.parametrize("case", ORDERED, ids=lambda case: case.name)
def test_who_comes_first(case: Ordered) -> None:
    assert order(engine_with(case.tiers, [node("n", 20), *case.objects])) == case.want


@pytest.mark.parametrize("paths", [("x/a", "x/b", "z/c"), ("x/v/a", "x/w/b", "z/z/c")], ids="/".join)
def test_what_a_neighbour_takes_moves_the_whole_department_back(paths: tuple[str, str, str]) -> None:
    tenants = [
        queue(path[-1], annotations=hierarchy(f"root/{path}", "1/1/1/1"[: 2 * path.count("/") + 3])) for path in paths
    ]
    waiting = [pod("a1", "a"), pod("b1", "b", cpu="3"), pod("c1", "c")]
    engine = engine_with(("HDRF",), [node("n", 10), *tenants, *waiting])
    assert [state.key.name for state in engine.queue_state().active] == ["a1", "b1", "c1"]
    engine.core._check()
    engine.apply(bound_pod("b0", "n", "", "b"))
    engine.core._check()
    assert order(engine) == ["c1", "a1", "b1"]


# --- reasons --------------------------------------------------------------------------------------------------------


@frozen
class Reason:
    name: str
    objects: list[ClusterObject]
    want: str
    tiers: tuple[str, ...] = ("Proportion",)
    args: dict[str, Any] = field(factory=dict)


REASONS = [
    Reason("unknown", [pod("x", "nobody")], "queue nobody does not exist"),
    Reason("E74: closed", [queue("a", state="Closed"), pod("x", "a")], "queue a is closed"),
    Reason(
        "beyond what it deserves",
        [queue("a"), queue("b"), *pods("b", 9, "b"), bound_pod("a0", "n", "", "a", "4"), pod("x", "a", "2")],
        "queue a: cpu 6 would exceed deserved 5",
    ),
    Reason(
        "overused: everything it deserves is used up",
        [
            queue("a"),
            *[queue(f"b{i}", 50) for i in range(3)],
            *[each for i in range(3) for each in pods(f"b{i}-", 300, f"b{i}")],
            bound_pod("a0", "n", "", "a", "3"),
            bound_pod("a1", "n", "", "a", "3"),
            pod("x", "a", "1"),
        ],
        "queue a is overused: cpu 6 of deserved 0.0662252",
    ),
    Reason(
        "the text of an overused tenant",
        [
            make_node("m").capacity(cpu=550, memory="1Ti", pods=2).obj(),
            queue("team-a"),
            queue("b", 55),
            *pods("b", 300, "b", cpu="2"),
            *(bound_pod(f"a{i}", "m", "", "team-a", "6") for i in range(2)),
            pod("x", "team-a"),
        ],
        "queue team-a is overused: cpu 12 of deserved 10",
    ),
    Reason(
        "the text of a pod too much",
        [
            node("m", 10),
            queue("team-a"),
            queue("b"),
            *pods("b", 20, "b"),
            bound_pod("a0", "m", "", "team-a", "10"),
            pod("x", "team-a", "2"),
        ],
        "queue team-a: cpu 12 would exceed deserved 10",
    ),
    Reason("nothing to deserve", [pod("x")], "queue default is overused: it deserves nothing"),
    Reason(
        "a quota's limit",
        [queue("a", capability=cpus(2)), bound_pod("a0", "n", "", "a", "2"), pod("x", "a", "1")],
        "queue a: cpu 3 would exceed capability 2",
        ("Capacity",),
    ),
    Reason(
        "a broken hierarchy",
        [queue("a", parent="p"), pod("x", "a")],
        "the hierarchy of queues is not ready: queue a: there is no queue p, its parent",
        ("Capacity",),
        {"Capacity": {"hierarchical": True}},
    ),
]


@pytest.mark.parametrize("case", REASONS, ids=lambda case: case.name)
def test_why_an_entity_is_passed_over(case: Reason) -> None:
    nodes = [] if case.name == "nothing to deserve" else [node("n", 10)]
    engine = engine_with(case.tiers, [*nodes, *case.objects], **case.args)
    assert reasons(engine)["x"] == case.want
    before = engine.queue_state()
    engine.run()
    state = next(s for s in engine.queue_state().active if s.key.name == "x")
    assert state.attempts == 0, "it was not punished"
    assert state == next(s for s in before.active if s.key.name == "x")


# --- nobody waits for a timer ---------------------------------------------------------------------------------------


@frozen
class Woken:
    """``x`` is passed over, then something happens, then it is bound without the clock moving."""

    name: str
    objects: list[ClusterObject]
    change: list[ClusterObject] = field(factory=list)
    gone: list[ClusterObject] = field(factory=list)


FULL: list[ClusterObject] = [queue("a"), queue("b"), bound_pod("a0", "n", "", "a", "5"), *pods("b", 9, "b", cpu="2")]
WOKEN = [
    Woken("a pod of the tenant ends", [*FULL, pod("x", "a")], gone=[bound_pod("a0", "n", "", "a", "5")]),
    Woken("others ask for less", [*FULL, pod("x", "a")], gone=list(pods("b", 9, "b", cpu="2"))),
    Woken("a node comes", [*FULL, pod("x", "a")], [node("m", 10)]),
    Woken("its weight rises", [*FULL, pod("x", "a")], [queue("a", 9)]),
    Woken("its queue opens", [queue("a", state="Closed"), pod("x", "a")], [queue("a")]),
    Woken("its queue comes", [pod("x", "a")], [queue("a")]),
]


@pytest.mark.parametrize("case", WOKEN, ids=lambda case: case.name)
def test_who_is_passed_over_goes_on_at_once(case: Woken) -> None:
    engine = engine_with(("Proportion",), [node("n", 10), *case.objects])
    engine.run_ready()
    assert "default/x" not in engine.bindings
    for obj in case.gone:
        engine.delete(obj)
    for obj in case.change:
        engine.apply(obj)
    engine.run_ready()
    assert "default/x" in engine.bindings
    assert engine.now == 0


@frozen
class Stopped:
    """``x`` could be popped; then something happens while it waits, and it is passed over, unpunished."""

    name: str
    objects: list[ClusterObject]
    want: str
    change: Sequence[ClusterObject] = ()
    gone: Sequence[ClusterObject] = ()


READY: list[ClusterObject] = [queue("a"), queue("b"), bound_pod("a0", "n", "", "a", "4"), pod("x", "a")]
STOPPED = [
    Stopped("its queue closes", READY, "queue a is closed", [queue("a", state="Closed")]),
    Stopped("its queue goes", READY, "queue a does not exist", gone=[queue("a")]),
    Stopped(
        "its weight sinks", [*READY, *pods("b", 9, "b")], "queue a: cpu 5 would exceed deserved 1", [queue("b", 9)]
    ),
    Stopped("its capability sinks", READY, "queue a: cpu 5 would exceed deserved 4", [queue("a", capability=cpus(4))]),
    Stopped(
        "another is guaranteed more", READY, "queue a: cpu 5 would exceed deserved 2", [queue("b", guarantee=cpus(8))]
    ),
    Stopped(
        "others ask for more", [*READY, queue("b", 3)], "queue a: cpu 5 would exceed deserved 2.5", pods("b", 9, "b")
    ),
    Stopped("a node goes", [*READY, node("m", 4)], "queue a: cpu 5 would exceed deserved 4", gone=[node("n", 10)]),
    Stopped(
        "it moves to a queue that is closed", [*READY, queue("c", state="Closed")], "queue c is closed", [pod("x", "c")]
    ),
]


@pytest.mark.parametrize("case", STOPPED, ids=lambda case: case.name)
def test_who_was_ready_is_passed_over_when_its_share_is_gone(case: Stopped) -> None:
    engine = engine_with(("Proportion",), [node("n", 10), *case.objects])
    assert reasons(engine)["x"] == ""
    for obj in case.gone:
        engine.delete(obj)
    for obj in case.change:
        engine.apply(obj)
    engine.run_ready()
    assert reasons(engine)["x"] == case.want
    assert "default/x" not in engine.bindings
    assert next(state for state in engine.queue_state().active if state.key.name == "x").attempts == 0
    engine.core._check()


def test_a_queue_that_goes_and_comes_back_finds_everything_as_it_was() -> None:
    engine = engine_with(
        PROPORTION, [node("n", 10), queue("a", 4), queue("b"), *pods("a", 12, "a"), *pods("b", 12, "b")]
    )
    engine.run_ready()
    before = engine.shares()
    engine.delete(queue("a"))
    engine.run_ready()
    assert bound(engine) == {"a": 8, "b": 2}, "what is bound stays, and what it holds is nobody's to take"
    a = next(each for each in engine.shares().queues if each.name == "a")
    assert (a.state, a.allocated["cpu"], a.deserved, a.refusal) == ("", 8, {}, "queue a does not exist")
    engine.apply(queue("a", 4))
    assert engine.shares() == before
    engine.core._check()


# --- inside a cycle -------------------------------------------------------------------------------------------------


def test_e69_a_gang_that_its_tenant_cannot_have_whole_is_rolled_back() -> None:
    objects: list[ClusterObject] = [node("n", 6), queue("a"), queue("b")]
    for tenant in ("a", "b"):
        objects += [gang(f"g{tenant}", 4, tenant), *pods(tenant, 4, group=f"g{tenant}")]
    engine = engine_with(PROPORTION, objects)

    [first, second] = engine.run_ready()

    assert bound(engine) == {}
    for report in (first, second):
        refused = [verdict for verdict in report.pods.values() if verdict.plugins]
        assert refused, "the fourth pod is refused by the tenant's limit"
        assert refused[0].plugins == ("Proportion",)
        tenant = str(report.entity.name)[1]
        assert f"queue {tenant}: cpu 4 would exceed deserved 3" in str(refused[0].status)
    assert {state.key.name for state in engine.queue_state().backoff} == {"ga", "gb"}
    engine.core._check()


def test_e52_tentative_pods_count_inside_a_cycle_and_not_after_it() -> None:
    small = [node("n", 10), queue("a", capability=cpus(3)), gang("g", 2, "a"), *pods("g", 5, group="g")]
    engine = engine_with(("Proportion",), small)
    engine.run_ready()
    assert bound(engine) == {"g": 3}
    state = engine.queue_state()
    assert [waiting.key.name for waiting in (*state.active, *state.backoff)] == ["g"]


def test_a_binding_that_fails_gives_the_share_back() -> None:
    engine = engine_with(("Proportion",), [node("n", 10), queue("a", capability=cpus(1)), pod("x", "a")])
    engine.host.bind_call = lambda bind: "refused"
    engine.step()
    share = next(queue for queue in engine.shares().queues if queue.name == "a")
    assert (share.allocated, share.request) == ({}, {"cpu": 1, "pods": 1})


def test_orphans_count_for_nobody() -> None:
    engine = engine_with(PROPORTION, [node("n", 10), pod("x", group="gone"), bound_pod("y", "n", group="gone")])
    engine.run()
    assert {queue.name: queue.pods for queue in engine.shares().queues} == {"default": 0}
    assert engine.shares().jobs == ()


def test_waiting_pods_of_other_schedulers_count_for_nobody_whenever_their_group_comes() -> None:
    group = gang("g", 1, "a")
    waiting = [evolve(each, scheduler_name="other") for each in (pod("x", group="g"), pod("z", "a"))]
    held = evolve(bound_pod("y", "n", group="g"), scheduler_name="other")
    members: list[Pod] = [*waiting, held]
    for first, last in (([group], []), ([], [group])):
        engine = engine_with(PROPORTION, [node("n", 10), queue("a"), *first, *members, *last])
        assert {queue.name: queue.pods for queue in engine.shares().queues} == {"a": 1, "default": 0}
    measured = Engine()
    for each in (node("n", 10), queue("a"), group, *members):
        measured.apply(each)
    assert {queue.name: queue.pods for queue in measured.shares().queues} == {"a": 1, "default": 0}
    measured.apply(evolve(waiting[0], node_name="n"))
    assert {queue.name: queue.pods for queue in measured.shares().queues} == {"a": 2, "default": 0}


@pytest.mark.parametrize("tiers", [("Capacity",), ("HDRF",)])
def test_a_tenant_whose_last_pod_is_on_its_way_out_stands_where_it_belongs(tiers: tuple[str, ...]) -> None:
    args = {"Capacity": {"hierarchical": True}} if tiers == ("Capacity",) else {}
    waiting = pod("x", "root")  # with a job, the root of quotas is not a leaf as it should be, and nobody is served
    engine = engine_with(tiers, [node("n", 10), queue("a"), waiting, bound_pod("y", "n", "", "root")], **args)
    engine.queue_state()
    engine.core._check()
    for each in (waiting, bound_pod("y", "n", "", "root")):
        engine.apply(evolve(each, deletion_timestamp=1))
    engine.apply(node("m", 10))
    engine.core._check()
    assert "root" not in {each.name for each in engine.shares().queues}


def test_a_group_that_changes_its_queue_takes_its_pods_along() -> None:
    group = gang("g", 5, "a")
    engine = engine_with(PROPORTION, [node("n", 10), queue("a"), queue("b"), group, *pods("g", 3, group="g")])
    engine.apply(evolve(group, annotations={QUEUE_NAME: "b"}))
    assert {queue.name: queue.pods for queue in engine.shares().queues} == {"a": 0, "b": 3, "default": 0}
    engine.core._check()


def test_the_root_of_a_tree_says_the_queue_of_all() -> None:
    tree: list[ClusterObject] = [
        evolve(make_composite_pod_group("tree").min_group_count(1).obj(), annotations={QUEUE_NAME: "a"}),
        evolve(make_pod_group("leaf").min_count(1).parent("tree").obj(), annotations={QUEUE_NAME: "b"}),
        pod("x", "c", group="leaf"),
    ]
    assert isinstance(tree[0], CompositePodGroup)
    engine = engine_with(PROPORTION, [node("n", 10), queue("a"), *tree])
    engine.run()
    assert [job.queue for job in engine.shares().jobs] == ["a"]
    assert list(engine.bindings) == ["default/x"]


def test_a_tree_moves_when_the_minimum_of_a_group_below_its_root_changes() -> None:
    root = make_composite_pod_group("tree").min_group_count(1).annotation(QUEUE_NAME, "a").obj()
    leaf = make_pod_group("leaf").min_count(2).parent("tree").obj()
    members = [bound_pod("x", "n", group="leaf"), pod("y", group="leaf"), pod("z", "a", age=1)]
    engine = engine_with(("Gang",), [node("n", 10), queue("a"), root, leaf, *members])
    assert [entity.key.name for entity in engine.queue_state().active] == ["tree", "z"]
    engine.apply(evolve(leaf, minimum=1))  # now it is ready: who is not goes first
    assert [entity.key.name for entity in engine.queue_state().active] == ["z", "tree"]
    engine.core._check()


def test_early_pops_from_the_backoff_queue_follow_shares() -> None:
    nowhere = {"b": pod("a-of-rich", "b"), "a": pod("z-of-poor", "a")}
    engine = engine_with(("Proportion",), [node("n", 10), queue("a"), queue("b"), bound_pod("b0", "n", "", "b", "3")])
    for waiting in nowhere.values():
        engine.apply(evolve(waiting, spec=make_pod("x").requests(cpu="1").node_selector("disk", "ssd").obj().spec))
    assert len(engine.run_ready()) == 2
    assert len(engine.queue_state().parked) == 2
    engine.apply(make_node("n").capacity(cpu=10, memory="100Gi", pods=110).label("disk", "ssd").obj())
    assert len(engine.queue_state().backoff) == 2
    assert order_of(engine.run_ready()) == ["z-of-poor", "a-of-rich"]
    engine.core._check()


def order_of(reports: Sequence[CycleReport]) -> list[str]:
    return [str(report.entity.name) for report in reports]


# --- views ----------------------------------------------------------------------------------------------------------


def test_shares_tell_what_was_decided_and_how() -> None:
    engine = engine_with(
        PROPORTION, [node("n", 10), queue("a", 4), queue("b"), *pods("a", 12, "a"), *pods("b", 12, "b")]
    )
    engine.run()
    view = engine.shares()
    assert view.policy == "Proportion"
    a, b, default = view.queues
    assert (a.name, a.share, a.allocated["cpu"], a.deserved["cpu"], a.request["cpu"]) == ("a", 1, 8, 8, 12)
    assert (b.name, b.allocated["cpu"], b.weight) == ("b", 2, 1)
    assert (default.name, default.pods) == ("default", 0)
    assert [each.weights for each in view.rounds] == [5, 5]
    assert {job.dominant for job in view.jobs} == {"cpu", ""}


def test_shares_are_measured_where_nobody_decides_by_them() -> None:
    engine = Engine()
    for obj in [node("n", 10), queue("a", 4), queue("b"), *pods("b", 12, "b"), *pods("x", 12, "a")]:
        engine.apply(obj)
    engine.run()
    view = engine.shares()
    assert view.policy == "none (Proportion measures)"
    assert {queue.name: queue.allocated.get("cpu", 0) for queue in view.queues} == {"a": 0, "b": 10, "default": 0}
    assert [queue.refusal for queue in view.queues] == ["", "", ""]
    engine.core._check()


def test_limits_without_an_order_park_plain_pods_and_wake_them_when_the_room_grows() -> None:
    """Proportion as a PreFilter under PrioritySort: an ordinary refusal, an ordinary hint."""
    plain = config("PrioritySort")
    plain["profiles"][0]["plugins"]["preFilter"] = {"enabled": [{"name": "Proportion"}]}
    engine = Engine(plain)
    for obj in [node("n", 10), queue("a", capability=cpus(2)), *pods("a", 3, "a")]:
        engine.apply(obj)
    engine.run_ready()
    assert bound(engine) == {"a": 2}
    [parked] = engine.queue_state().parked
    assert parked.rejected_by == {"default/a2": ("Proportion",)}
    assert "queue a: cpu 3 would exceed deserved 2" in str(engine.core.pod("default/a2"))

    engine.apply(queue("a", capability=cpus(2), weight=2))
    assert engine.queue_state().parked == (parked,), "no more room, so it is not woken"
    engine.apply(queue("a", capability=cpus(3)))
    assert not engine.queue_state().parked
