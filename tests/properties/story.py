"""A random life of a cluster, told to one core or to several at once: the rules of every machine and driver here.

Each rule takes a ``random.Random``, chooses what is possible now, and does nothing when nothing is. ``steps`` of one
world are numbered and each draws from its own generator, so a failing story can be shortened by leaving steps out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from attrs import evolve, fields

from gangsched.engine.cycle import Cycle
from gangsched.engine.decisions import Bind, Evict
from gangsched.engine.report import CycleReport
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.signature_column import SignatureColumn
from gangsched.host import Host
from gangsched_framework.objects import ClusterObject, EntityKey, Group, Node, Pod, PodGroup
from gangsched_framework.pod_spec import PodSpec, Toleration
from tests.properties import invariants
from tests.properties.objects import (
    APPS,
    COMPOSITES,
    LEAVES,
    NODES,
    PODS,
    Variety,
    change_node,
    draw_budget,
    draw_group,
    draw_namespace,
    draw_node,
    draw_owner,
    draw_pod,
    draw_spec,
    one_in,
    some,
)
from tests.properties.same import assert_same_report, assert_same_state

TENTH = 100_000_000
MOMENTS = (TENTH, 5 * TENTH, 10 * TENTH, 10 * TENTH, 15 * TENTH, 30 * TENTH, 200 * TENTH, 4000 * TENTH)


class Story:
    """The cluster around the cores, which all hear and are asked the same.

    ``nodes`` are those delivered; ``unanswered`` the bindings under way, ``unseen`` those that succeeded but whose pods
    do not show it yet, ``leaving`` the victims not gone yet. ``period``: every how many steps the cores are looked at;
    looking settles what else would wait for the next cycle.
    """

    def __init__(self, cores: Sequence[Scheduler], variety: Variety, period: int = 1) -> None:
        self.cores = cores
        self.core = cores[0]
        self.variety = variety
        self.period = period
        self.hosts = [Host(core) for core in cores]
        self.nodes: dict[str, Node] = {}
        self.unanswered: list[Bind] = []
        self.unseen: list[Bind] = []
        self.reserved: dict[str, Pod] = {}  # by uid: pods being bound, as they were popped
        self.leaving: list[Evict] = []
        self.cycles: list[Cycle] = []
        self.stage = ""
        self.seen: invariants.Seen | None = None
        self.told: list[str] = []
        self.counts: dict[str, int] = {}
        self.parked: dict[EntityKey, tuple[object, int]] = {}  # since when an entity is seen parked
        self._specs: list[PodSpec] = []
        self._late: tuple[str, ...] = ()
        self._refused: tuple[str, ...] = ()
        self._ours: set[str] = set()
        self._uids = 0
        self._steps = 0
        for host in self.hosts:
            host.bind_call = self._answer_of(host)
            host.evict = self._leave

    # --- telling ------------------------------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        self.told.append(text)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def tell(self, verb: str, obj: ClusterObject) -> None:
        self.note(f"{verb} {describe(obj)}")
        if isinstance(obj, Node):
            if verb == "delete":
                del self.nodes[obj.name]
            else:
                self.nodes[obj.name] = obj
        for core in self.cores:
            getattr(core, verb)(obj)

    def _uid(self, name: str) -> str:
        self._uids += 1
        return f"{name}#{self._uids}"

    def _spec(self, rng: Random) -> PodSpec:
        if self._specs and not one_in(rng, 4):
            return self._specs[rng.randrange(len(self._specs))]
        self._specs.append(draw_spec(rng, self.variety))
        return self._specs[-1]

    def _namespace(self, rng: Random) -> str:
        return "other" if self.variety.has("namespaces") and one_in(rng, 5) else "default"

    # --- nodes --------------------------------------------------------------------------------------------------------

    def a_node_appears(self, rng: Random) -> None:
        free = [name for name in NODES if name not in self.nodes]
        if free:
            self.tell("add", draw_node(rng, self.variety, free[rng.randrange(len(free))], self.core.now))

    def a_node_changes(self, rng: Random) -> None:
        node = self._some_node(rng)
        if node is not None:
            aspect = some(rng, ("allocatable", "labels", "taints", "images"))
            self.tell("update", change_node(rng, self.variety, node, (aspect,)))

    def a_node_vanishes(self, rng: Random) -> None:
        node = self._some_node(rng)
        if node is not None:
            self.tell("delete", node)
            if one_in(rng, 3):
                self.tell("add", draw_node(rng, self.variety, node.name, self.core.now))

    def _some_node(self, rng: Random) -> Node | None:
        return self.nodes[sorted(self.nodes)[rng.randrange(len(self.nodes))]] if self.nodes else None

    # --- groups -------------------------------------------------------------------------------------------------------

    def a_group_appears(self, rng: Random) -> None:
        names = LEAVES + COMPOSITES if self.variety.has("trees") else LEAVES
        name, namespace = some(rng, names), self._namespace(rng)
        if self._group(namespace, name) is None:
            self.tell("add", self._draw_group(rng, namespace, name))

    def _draw_group(self, rng: Random, namespace: str, name: str, parent: str | None = None) -> Group:
        if parent is None:
            parent = self._some_parent(rng, name)
        priority = self._tree_priority(namespace, name, parent)
        drawn = draw_group(rng, self.variety, (namespace, name), self._uid(name), parent, priority)
        return evolve(drawn, creation_timestamp=self.core.now)

    def _tree_priority(self, namespace: str, name: str, parent: str = "") -> int | None:
        """The priority that a group's kin has already; None when there is no kin."""
        for group in self._groups():
            if group.namespace == namespace and (group.name in (name, parent) or group.parent_name == name):
                return group.effective_priority
        for pod in self.core.world.pods.values():
            if pod.namespace == namespace and pod.group_name == name:
                return pod.priority
        return None

    def _some_parent(self, rng: Random, name: str) -> str:
        """The name of a parent or ''; chains are short and acyclic but for worlds of odd shapes."""
        if not self.variety.has("trees") or one_in(rng, 3):
            return ""
        if self.variety.has("shapes"):
            return some(rng, COMPOSITES)
        above = [other for other in COMPOSITES[:3] if not name.isupper() or other < name]
        return above[rng.randrange(len(above))] if above else ""

    def _group(self, namespace: str, name: str) -> Group | None:
        return next((g for g in self._groups() if (g.namespace, g.name) == (namespace, name)), None)

    def _groups(self) -> list[Group]:
        return list(self.core.world.forest.groups())

    def _some_group(self, rng: Random) -> Group | None:
        groups = sorted(self._groups(), key=lambda group: group.key)
        return groups[rng.randrange(len(groups))] if groups else None

    def a_group_changes(self, rng: Random) -> None:
        group = self._some_group(rng)
        if group is None:
            return
        if group.minimum is not None:
            group = evolve(group, minimum=max(1, group.minimum + some(rng, (-1, -1, 0, 1))))
        self.tell("update", evolve(group, generation=group.generation + 1))

    def a_group_moves(self, rng: Random) -> None:
        """A deletion and a creation under another parent, seen as one change (spec §3.4)."""
        group = self._some_group(rng) if self.variety.has("shapes") else None
        if group is not None:
            moved = self._draw_group(rng, group.namespace, group.name)
            self.tell("update", evolve(moved, minimum=group.minimum))

    def a_group_vanishes(self, rng: Random) -> None:
        group = self._some_group(rng)
        if group is not None:
            self.tell("delete", group)
            if one_in(rng, 3):
                self.tell("add", evolve(group, uid=self._uid(group.name), conditions=()))

    def a_tree_appears(self, rng: Random) -> None:
        """A root, its leaves and their pods, in any order."""
        namespace = self._namespace(rng)
        free = [n for n in COMPOSITES[:3] if self._group(namespace, n) is None]
        leaves = [n for n in LEAVES if self._group(namespace, n) is None][: rng.randrange(1, 4)]
        if not self.variety.has("trees") or not free or not leaves:
            return
        root = self._draw_group(rng, namespace, free[0], parent="")
        objects: list[ClusterObject] = [root]
        for name in leaves:
            objects.append(evolve(self._draw_group(rng, namespace, name, parent=root.name), priority=root.priority))
            taken = {obj.name for obj in objects if isinstance(obj, Pod)}
            pods = [pod for pod in self._draw_pods(rng, namespace, name, 9) if pod.name not in taken]
            objects += [evolve(pod, priority=root.effective_priority) for pod in pods[: rng.randrange(1, 4)]]
        rng.shuffle(objects)
        for obj in objects:
            self.tell("add", obj)

    # --- pods ---------------------------------------------------------------------------------------------------------

    def _draw_pods(self, rng: Random, namespace: str, group: str, count: int) -> list[Pod]:
        """New waiting pods of one template; ``group`` '' = plain ones."""
        spec = self._spec(rng)
        priority = self._tree_priority(namespace, group) if group else None
        pods: list[Pod] = []
        for pod in [p for p in PODS if self.core.pod(f"{namespace}/{p}") is None][:count]:
            drawn = draw_pod(rng, self.variety, (namespace, pod), self._uid(pod), spec, group, priority)
            pods.append(evolve(drawn, creation_timestamp=self.core.now))
        return pods

    def a_pod_appears(self, rng: Random) -> None:
        group = "" if one_in(rng, 2) else some(rng, LEAVES)
        for pod in self._draw_pods(rng, self._namespace(rng), group, 1):
            node = some(rng, NODES) if one_in(rng, 5) else ""
            self.tell("add", evolve(pod, node_name=node, status=evolve(pod.status, start_time=self.core.now)))

    def a_pressing_pod_appears(self, rng: Random) -> None:
        """A plain pod for which others may have to go."""
        if self.variety.has("priorities"):
            for pod in self._draw_pods(rng, self._namespace(rng), "", 1):
                self.tell("add", evolve(pod, priority=some(rng, (10, 20)), scheduling_gates=()))

    def pods_of_a_group_appear(self, rng: Random) -> None:
        leaves = [g for g in sorted(self._groups(), key=lambda group: group.key) if isinstance(g, PodGroup)]
        if not leaves:
            return
        leaf = leaves[rng.randrange(len(leaves))]
        count = rng.randrange(1, 5) if one_in(rng, 2) else rng.randrange(4, 10)
        for pod in self._draw_pods(rng, leaf.namespace, leaf.name, count):
            node = some(rng, NODES) if one_in(rng, 8) else ""
            self.tell("add", evolve(pod, node_name=node))

    def _some_pod(self, rng: Random, assigned: bool | None = None) -> Pod | None:
        pods = [p for p in self.core.world.pods.values() if assigned is None or bool(p.node_name) == assigned]
        return pods[rng.randrange(len(pods))] if pods else None

    def a_pod_changes(self, rng: Random) -> None:
        pod = self._some_pod(rng)
        if pod is None:
            return
        change = some(rng, ("labels", "gates", "tolerations", "requests", "nothing", "nomination"))
        if change == "labels":
            pod = evolve(pod, labels={"app": some(rng, APPS)})
        elif change == "gates":
            pod = evolve(pod, scheduling_gates=pod.scheduling_gates[1:])
        elif change == "tolerations":
            spec = evolve(pod.spec, tolerations=(*pod.spec.tolerations, Toleration("team", "Exists")))
            pod = evolve(pod, spec=spec)
        elif change == "requests":
            containers = draw_spec(rng, Variety(frozenset())).containers
            pod = evolve(pod, spec=evolve(pod.spec, containers=containers))
        elif change == "nomination" and not pod.node_name:
            nominated = some(rng, ("", *NODES)) if self.variety.has("nominations") else ""
            pod = evolve(pod, status=evolve(pod.status, nominated_node_name=nominated))
        self.tell("update", evolve(pod, generation=pod.generation + 1))

    def a_pod_is_being_deleted(self, rng: Random) -> None:
        pod = self._some_pod(rng)
        if pod is not None and not pod.deleting:
            self.tell("update", evolve(pod, deletion_timestamp=self.core.now))

    def a_pod_vanishes(self, rng: Random) -> None:
        pod = self._some_pod(rng)
        if pod is not None:
            self.tell("delete", pod)

    def a_pod_finishes(self, rng: Random) -> None:
        pod = self._some_pod(rng, assigned=True)
        if pod is not None:
            self.tell("update", evolve(pod, status=evolve(pod.status, phase=some(rng, ("Succeeded", "Failed")))))

    def a_pod_loses_its_node(self, rng: Random) -> None:
        """Of pods that others assigned, while no cycle runs: a binding of ours is final."""
        pod = self._some_pod(rng, assigned=True)
        if pod is not None and pod.uid not in self._ours and not self.stage:
            self.tell("update", evolve(pod, node_name=""))

    def a_pod_is_replaced(self, rng: Random) -> None:
        """Another pod of the same name, seen as one change or as two; perhaps of another group."""
        pod = self._some_pod(rng)
        if pod is None:
            return
        group = some(rng, ("", *LEAVES)) if one_in(rng, 4) else pod.group_name
        new = evolve(pod, uid=self._uid(pod.name), node_name="", group_name=group, deletion_timestamp=None)
        if one_in(rng, 2):
            self.tell("delete", pod)
            self.tell("add", new)
        else:
            self.tell("update", new)

    def a_pod_is_assigned_by_others(self, rng: Random) -> None:
        pod = self._some_pod(rng, assigned=False)
        if pod is not None and pod.uid not in [bind.uid for bind in self.unseen]:
            self.tell("update", evolve(pod, node_name=some(rng, NODES)))

    def a_pod_is_activated(self, rng: Random) -> None:
        pod = self._some_pod(rng, assigned=False)
        if pod is not None and not self.core.world.is_assumed(pod):
            self.note(f"activate {pod.key}")
            for core in self.cores:
                core.activate([pod])

    # --- other objects and time ---------------------------------------------------------------------------------------

    def another_object_changes(self, rng: Random) -> None:
        drawn: list[ClusterObject] = []
        if self.variety.has("budgets"):
            drawn.append(draw_budget(rng, self._namespace(rng)))
        if self.variety.has("owners"):
            drawn.append(draw_owner(rng, self._namespace(rng)))
        if self.variety.has("namespaces"):
            drawn.append(draw_namespace(rng))
        if drawn:
            self.tell(some(rng, ("add", "add", "delete")), drawn[rng.randrange(len(drawn))])

    def time_passes(self, rng: Random) -> None:
        due = self.core.next_due()
        if due is not None and one_in(rng, 4):
            self.note(f"jump to {due / 10**9}")
            for core in self.cores:
                core.jump(due)
                core.flush()
            return
        moment = some(rng, MOMENTS)
        self.note(f"advance {moment / 10**9}")
        for core in self.cores:
            core.advance(moment)

    # --- cycles -------------------------------------------------------------------------------------------------------

    def a_cycle_goes_on(self, rng: Random) -> None:
        """One stage: pop, decide or submit."""
        if self.stage == "":
            self._pop()
        elif self.stage == "popped":
            self._decide()
        else:
            self._submit(rng)

    def a_whole_cycle(self, rng: Random) -> None:
        if self.stage == "":
            self._pop()
        if self.stage == "popped":
            self._decide()
        if self.stage == "decided":
            self._submit(rng)

    def the_queue_is_worked_off(self, rng: Random) -> None:
        """Cycle after cycle while something is ready."""
        for _ in range(6):
            self.a_whole_cycle(rng)
            self.check()
            if not self.core.queue.has_ready():
                break

    def _pop(self) -> None:
        self.cycles = [cycle for cycle in (core.pop() for core in self.cores) if cycle is not None]
        if self.cycles:
            assert len(self.cycles) == len(self.cores)
            self.stage = "popped"
            self.note(f"pop {self.cycles[0].entity.key}")

    def _decide(self) -> None:
        self.note("decide")
        self.seen = invariants.see(self)
        answers = [cycle.decide() for cycle in self.cycles]
        assert len(set(answers)) == 1
        self.stage = "decided"
        self._count_columns()

    def _count_columns(self) -> None:
        columns = self.core.columns
        for column in columns._columns.values() if columns is not None else ():
            if isinstance(column, SignatureColumn):
                self.counts["by columns"] = self.counts.get("by columns", 0) + column.repaired + column.rebuilt
                column.repaired = column.rebuilt = 0
        if search := self.core.algorithm.columns:
            self.counts["planned ahead"] = self.counts.get("planned ahead", 0) + search.run.planned
            search.run.planned = 0

    def _submit(self, rng: Random) -> None:
        assert self.seen is not None
        seen, cycle = invariants.see_again(self, self.seen), self.cycles[0]
        reports = [each.submit() for each in self.cycles]
        self.cycles, self.stage = [], ""
        for other in reports[1:]:
            assert_same_report(reports[0], other)
        report = reports[0]
        self.note(f"submit {report.entity}: {[d for d in report.decisions if isinstance(d, Bind | Evict)]}")
        invariants.check_report(self, cycle.entity, report, seen)
        self._count(report)
        self._carry_out(rng, reports, seen.popped)

    def _count(self, report: CycleReport) -> None:
        self.count("cycles")
        for what, kind in (("bindings", Bind), ("evictions", Evict)):
            for decision in report.decisions:
                if isinstance(decision, kind):
                    self.count(what)

    def _carry_out(self, rng: Random, reports: Sequence[CycleReport], popped: Mapping[str, Pod]) -> None:
        binds = [d for d in reports[0].decisions if isinstance(d, Bind)]
        self._ours.update(bind.uid for bind in binds)
        late = [bind for bind in binds if one_in(rng, 3)]
        self._refused = tuple(bind.pod for bind in binds if one_in(rng, 8))
        self.unanswered += late
        self.reserved |= {bind.uid: popped[bind.pod] for bind in late}
        answers = []
        for host, report in zip(self.hosts, reports, strict=True):
            answers.append(host.carry_out([d for d in report.decisions if d not in late]))
        assert all(answer == answers[0] for answer in answers)
        self._refused = ()
        self.leaving += [d for d in reports[0].decisions if isinstance(d, Evict) and self.core.pod(d.pod) is not None]

    def _answer_of(self, host: Host) -> Callable[[Bind], str | None]:
        def answer(bind: Bind) -> str | None:
            if bind.pod in self._refused:
                return "refused"
            pod = host.core.pod(bind.pod)
            if pod is not None and pod.uid == bind.uid and pod.node_name:
                return f'pod {bind.pod} is already assigned to node "{pod.node_name}"'
            return None

        return answer

    def a_binding_is_answered(self, rng: Random) -> None:
        if not self.unanswered:
            return
        bind = self.unanswered.pop(rng.randrange(len(self.unanswered)))
        if one_in(rng, 3) and self._waits(bind):
            self.note(f"bound, not seen {bind}")
            events = [core.bound(bind.pod, bind.uid) for core in self.cores]
            assert all(event == events[0] for event in events)
            self.unseen.append(bind)
            return
        self._refused = (bind.pod,) if one_in(rng, 3) else ()
        self.note(f"answer {bind}, refused: {self._refused}")
        answers = [host.carry_out([bind]) for host in self.hosts]
        assert all(answer == answers[0] for answer in answers)
        self._refused = ()

    def _waits(self, bind: Bind) -> bool:
        pod = self.core.pod(bind.pod)
        return pod is not None and pod.uid == bind.uid and not pod.node_name

    def a_bound_pod_is_seen(self, rng: Random) -> None:
        if self.unseen:
            bind = self.unseen.pop(rng.randrange(len(self.unseen)))
            pod = self.core.pod(bind.pod)
            if pod is not None and self._waits(bind):
                self.tell("update", pod.bound_to(bind.node))

    def _leave(self, evict: Evict) -> None:
        """Eviction: the pod is terminating, and gone when the story says so."""
        for host in self.hosts:
            pod = host.core.pod(evict.pod)
            if pod is not None and pod.uid == evict.uid and not pod.deleting:
                host.core.update(evolve(pod, deletion_timestamp=host.core.now))

    def a_victim_is_gone(self, rng: Random) -> None:
        if not self.leaving:
            return
        evict = self.leaving.pop(rng.randrange(len(self.leaving)))
        pod = self.core.pod(evict.pod)
        if pod is not None and pod.uid == evict.uid:
            self.tell("delete", pod)

    # --- the proof ----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Every invariant that holds between two steps; in the middle of a cycle those of queue and forest."""
        self._steps += 1
        if self._steps % self.period:
            return
        for core in self.cores:
            invariants.check_core(core, between_cycles=self.stage != "decided")
        invariants.check_state(self)
        for other in self.cores[1:]:
            assert_same_state(self.core, other)

    def an_attempt_is_rehearsed(self, rng: Random) -> None:
        """What it would do is told alike by all cores, and changes nothing (the machine looks at the state next)."""
        state = self.core.queue_state()
        waiting = (*state.active, *state.backoff, *state.parked)
        if not waiting or self.stage:
            return
        key = waiting[rng.randrange(len(waiting))].key
        self.note(f"rehearse {key}")
        steps = [core.rehearse(key) for core in self.cores]
        assert all(told == steps[0] for told in steps)
        assert self.core.queue_state() == state
        self.count("rehearsals")


Rule = Callable[[Story, Random], None]
RULES: tuple[Rule, ...] = (
    *(Story.a_node_appears,) * 2,
    *(Story.a_node_changes,) * 2,
    Story.a_node_vanishes,
    *(Story.a_group_appears,) * 4,
    *(Story.a_group_changes,) * 2,
    Story.a_group_moves,
    Story.a_group_vanishes,
    *(Story.a_tree_appears,) * 2,
    *(Story.a_pod_appears,) * 4,
    *(Story.a_pressing_pod_appears,) * 3,
    *(Story.pods_of_a_group_appear,) * 8,
    *(Story.a_pod_changes,) * 3,
    Story.a_pod_is_being_deleted,
    *(Story.a_pod_vanishes,) * 2,
    *(Story.a_pod_finishes,) * 4,
    Story.a_pod_is_replaced,
    Story.a_pod_loses_its_node,
    Story.a_pod_is_assigned_by_others,
    Story.a_pod_is_activated,
    Story.another_object_changes,
    *(Story.time_passes,) * 5,
    *(Story.a_cycle_goes_on,) * 9,
    *(Story.a_whole_cycle,) * 5,
    *(Story.the_queue_is_worked_off,) * 8,
    *(Story.a_binding_is_answered,) * 4,
    *(Story.a_bound_pod_is_seen,) * 2,
    *(Story.a_victim_is_gone,) * 3,
    *(Story.an_attempt_is_rehearsed,) * 2,
)
"""Each as often as it is likely."""


def describe(obj: ClusterObject) -> str:
    """An object in one line of a story: what is not the default."""
    values = {each.name: getattr(obj, each.name) for each in fields(type(obj)) if each.init}
    defaults = {each.name: each.default for each in fields(type(obj))}
    shown = [f"{k}={_short(v)}" for k, v in values.items() if v != defaults[k] and v]
    return f"{type(obj).__name__}({', '.join(shown)})"


def _short(value: object) -> str:
    if isinstance(value, PodSpec):
        names = [each.name for each in fields(PodSpec) if each.init]
        hidden = () if value.has_affinity else ("pod_affinity", "pod_anti_affinity")
        told = {name: getattr(value, name) for name in names if name not in hidden}
        return " ".join(f"{name}:{it}" for name, it in told.items() if it)
    return str(value)
