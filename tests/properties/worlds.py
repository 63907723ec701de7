"""Small crowded clusters for two cores at once: full nodes, priorities, racks in zones, rules about other pods."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from attrs import evolve, frozen

from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework.objects import ClusterObject, Namespace, Node, Pod, PodGroup, SelectorOwner
from gangsched_framework.pod_spec import PodSpec, TopologySpreadConstraint
from gangsched_framework.testing import make_composite_pod_group, make_node, make_pod, make_pod_group, selector
from gangsched_framework.testing.builders import PodBuilder
from gangsched_framework.words import WHEN_UNSATISFIABLE, WhenUnsatisfiable
from gangsched_plugins.default_registry import default_registry
from tests.properties.cores import configuration, draw_groups
from tests.properties.objects import HOSTNAME, draw_budget, one_in, some
from tests.properties.same import assert_same_report, assert_same_state

ZONE = "topology.kubernetes.io/zone"
KEYS = (HOSTNAME, "rack", "rack", ZONE, ZONE)
APPS = ("web", "db", "job")
SECOND = 1_000_000_000


@frozen
class Theme:
    """What a world is about; every part is drawn with the odds (one in) given, 0 = never."""

    nodes: tuple[int, int] = (3, 12)
    spread: int = 0
    affinity: int = 0
    owners: int = 0
    preferences: int = 0
    racks: int = 0
    trees: int = 0
    priorities: int = 0
    budgets: int = 0
    nominations: int = 0
    ports: int = 0
    members: int = 5


class World:
    """Cluster and workload of one seed, told to a core with columns and to one without."""

    def __init__(self, seed: int, theme: Theme) -> None:
        self.rng = Random(f"{theme}:{seed}")
        self.theme = theme
        names = ("default", "packed", "spread", "balanced") if theme.spread else ("default", "packed")
        config = configuration(some(self.rng, names), 0)
        limit = some(self.rng, (100, 100, 100, 0, 1, 40))
        profiles = [evolve(profile, percentage_of_placements_to_score=limit) for profile in config.profiles]
        usual = Settings(max_backoff=SECOND, groups=draw_groups(self.rng))
        self.cores = [
            Scheduler(profiles, default_registry(), settings=settings, feature_gates=config.gates)
            for settings in (usual, evolve(usual, oracle=True))
        ]
        self.hosts = [Host(core) for core in self.cores]
        self.numbers = 0
        self.specs: list[PodSpec] = []
        self.lasting: dict[str, Node] = {}
        for _ in range(self.rng.randrange(*theme.nodes)):
            self.a_node_comes()
        for _ in range(self.rng.randrange(3)):
            self.tell(self.owner() if self._with("owners") else self.namespace())
        for _ in range(self.rng.randrange(20)):
            self.tell(self.running_pod())

    def _with(self, part: str) -> bool:
        odds: int = getattr(self.theme, part)
        return odds > 0 and one_in(self.rng, odds)

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def tell(self, *objects: ClusterObject, verb: str = "add") -> None:
        for obj in objects:
            for core in self.cores:
                getattr(core, verb)(obj)

    # --- objects ------------------------------------------------------------------------------------------------------

    def a_node_comes(self) -> None:
        rng, number = self.rng, self.number()
        rack = rng.randrange(6)
        node = make_node(f"n{number:02}").capacity(cpu=some(rng, (2, 4, 4, 8)), memory="16Gi", pods=some(rng, (4, 20)))
        if not one_in(rng, 6):
            node = node.label(HOSTNAME, f"n{number:02}")
        if not one_in(rng, 6):
            node = node.label("rack", f"r{rack}" if rack else "")
        if not one_in(rng, 9):
            node = node.label(ZONE, f"z{rack % 3}" if rack != 5 else "")
        if self._with("preferences"):
            node = node.label("disk", some(rng, ("ssd", "hdd")))
        if self._with("preferences"):
            node = node.taint("old", effect=some(rng, ("PreferNoSchedule", "PreferNoSchedule", "NoSchedule")))
        self.lasting[node.obj().name] = node.obj()
        self.tell(node.obj())

    def owner(self) -> SelectorOwner:
        kind = some(self.rng, ("Service", "ReplicaSet"))
        return SelectorOwner(kind, "default", f"s{self.rng.randrange(2)}", selector({"app": some(self.rng, APPS)}))

    def namespace(self) -> Namespace:
        return Namespace(some(self.rng, ("default", "other")), {"team": some(self.rng, ("x", "y"))})

    def spec(self) -> PodSpec:
        if self.specs and not one_in(self.rng, 4):
            return some(self.rng, tuple(self.specs))
        rng = self.rng
        pod = make_pod("x").requests(cpu=some(rng, ("250m", "500m", "1", "2", "3")), memory=some(rng, ("1Gi", "2Gi")))
        if self._with("spread"):
            pod = self._spread(pod)
        if self._with("affinity"):
            pod = self._affinity(pod)
        if self._with("affinity"):
            pod = self._affinity(pod)
        if self._with("preferences"):
            pod = pod.node_affinity("disk", some(rng, ("ssd", "hdd")), weight=some(rng, (1, 10)))
        if self._with("preferences"):
            pod = pod.tolerates("old")
        if self._with("ports"):
            pod = pod.host_port(some(rng, (80, 81)))
        self.specs.append(pod.obj().spec)
        return self.specs[-1]

    def _spread(self, pod: PodBuilder) -> PodBuilder:
        rng = self.rng
        for _ in range(some(rng, (1, 2, 2))):
            when: WhenUnsatisfiable = some(rng, WHEN_UNSATISFIABLE)
            labels = some(rng, ({"app": some(rng, APPS)}, {"app": some(rng, APPS)}, {}, None))
            pod = pod.spread(some(rng, KEYS), labels, rng.randrange(1, 4), when)
        if one_in(rng, 3):
            pod = pod.node_affinity("rack", "r0", "r1", "r3", operator=some(rng, ("In", "NotIn")))
        spec = pod.obj().spec
        return PodBuilder(pod.obj(), evolve(spec, topology_spread_constraints=self._varied(spec)))

    def _varied(self, spec: PodSpec) -> tuple[TopologySpreadConstraint, ...]:
        rng = self.rng
        return tuple(
            evolve(
                each,
                min_domains=some(rng, (None, None, 2, 4)) if each.when_unsatisfiable == "DoNotSchedule" else None,
                node_affinity_policy=some(rng, ("Honor", "Honor", "Ignore")),
                node_taints_policy=some(rng, ("Ignore", "Honor")),
                match_label_keys=some(rng, ((), (), ("version",))),
            )
            for each in spec.topology_spread_constraints
        )

    def _affinity(self, pod: PodBuilder) -> PodBuilder:
        rng = self.rng
        add = some(rng, (pod.affinity, pod.anti_affinity))
        add(some(rng, KEYS), {"app": some(rng, APPS)}, some(rng, (None, None, 5, 100)))
        changed = add(some(rng, KEYS), {"app": some(rng, APPS)}, some(rng, (None, None, 5, 100)))
        if one_in(rng, 2):
            changed = self._across_namespaces(changed)
        return changed

    def _across_namespaces(self, pod: PodBuilder) -> PodBuilder:
        spec = pod.obj().spec
        anti = spec.pod_anti_affinity
        widened = tuple(
            evolve(t, namespace_selector=selector({"team": some(self.rng, ("x", "y"))})) for t in anti.required
        )
        return PodBuilder(pod.obj(), evolve(spec, pod_anti_affinity=evolve(anti, required=widened)))

    def pod(self, group: str = "", priority: int | None = None, spec: PodSpec | None = None) -> Pod:
        rng, name = self.rng, f"p{self.number():03}"
        if priority is None:
            priority = some(rng, (0, 0, 5, 10)) if self._with("priorities") else 0
        labels = {"app": some(rng, APPS)}
        if one_in(rng, 3):
            labels["version"] = some(rng, ("1", "2"))
        namespace = "other" if not group and one_in(rng, 9) else "default"
        pod = Pod(namespace, name, f"Pod|{name}", spec or self.spec(), labels, priority=priority, group_name=group)
        if self._with("owners"):
            pod = evolve(pod, owner=some(rng, (("ReplicaSet", "s0"), ("ReplicaSet", "s1"))))
        if self._with("nominations") and self.lasting:
            pod = evolve(pod, status=evolve(pod.status, nominated_node_name=some(rng, tuple(self.lasting))))
        return pod

    def running_pod(self) -> Pod:
        node = some(self.rng, (*self.lasting, "elsewhere"))
        return evolve(self.pod(priority=some(self.rng, (0, 0, 5))), node_name=node)

    def group_with_pods(self, parent: str = "", priority: int | None = None) -> list[ClusterObject]:
        rng, name = self.rng, f"g{self.number():03}"
        if priority is None:
            priority = some(rng, (0, 5, 10)) if self._with("priorities") else 0
        members = rng.randrange(1, self.theme.members)
        group = make_pod_group(name).min_count(rng.randrange(1, members + 1)).priority(priority)
        if one_in(rng, 5):
            group = group.disruption("all")
        if self._with("racks"):
            group = group.topology(some(rng, ("rack", "rack", ZONE)))
        obj: PodGroup = evolve(group.obj(), parent_name=parent)
        spec = None if one_in(rng, 2) else self.spec()
        return [obj, *(self.pod(name, priority, spec) for _ in range(members))]

    def tree(self) -> list[ClusterObject]:
        rng, name = self.rng, f"t{self.number():03}"
        priority = some(rng, (0, 5, 10)) if self._with("priorities") else 0
        children = rng.randrange(1, 4)
        root = make_composite_pod_group(name).min_group_count(rng.randrange(1, children + 1)).priority(priority)
        if self._with("racks"):
            root = root.topology(some(rng, (ZONE, ZONE, "rack")))
        found: list[ClusterObject] = [root.obj()]
        for _ in range(children):
            found += self.group_with_pods(name, priority)
        return found

    # --- life ---------------------------------------------------------------------------------------------------------

    def happen(self) -> None:
        """One thing happens in the cluster."""
        rng, theme = self.rng, self.theme
        what = rng.randrange(12)
        if what < 4:
            spec = self.spec()
            self.tell(*(self.pod(spec=spec) for _ in range(rng.randrange(1, 5))))
        elif what < 7:
            self.tell(*(self.tree() if theme.trees and one_in(rng, theme.trees) else self.group_with_pods()))
        elif what == 7:
            self._a_pod_ends()
        elif what == 8:
            self._a_node_changes()
        elif what == 9 and self._with("budgets"):
            self.tell(draw_budget(rng, "default"))
        elif what == 9 and self._with("owners"):
            self.tell(self.owner())
        elif what == 9:
            self.tell(self.namespace())
        elif what == 10 and one_in(rng, 3):
            self.a_node_comes()
        else:
            time = some(rng, (SECOND, 3 * SECOND))
            for core in self.cores:
                core.advance(time)

    def _a_pod_ends(self) -> None:
        pods = sorted(self.cores[0].world.pods)
        if not pods:
            return
        pod = self.cores[0].world.pods[some(self.rng, tuple(pods))]
        if pod.node_name and one_in(self.rng, 4):
            self.tell(evolve(pod, labels={"app": some(self.rng, APPS)}))
        elif pod.node_name and one_in(self.rng, 4):
            self.tell(evolve(pod, deletion_timestamp=self.cores[0].now))
        else:
            self.tell(pod, verb="delete")

    def _a_node_changes(self) -> None:
        if not self.lasting or not one_in(self.rng, 3):
            return
        node = self.lasting[some(self.rng, tuple(self.lasting))]
        if one_in(self.rng, 4):
            self.tell(node, verb="delete")
            del self.lasting[node.name]
            return
        node = evolve(node, labels={**node.labels, "rack": some(self.rng, ("", "r1", "r2", "r3"))})
        self.lasting[node.name] = node
        self.tell(node)

    def run(self) -> int:
        """Cycles until nothing is ready, at most a few; both cores must say the same. Returns how many ran."""
        cycles = 0
        for cycles in range(self.rng.randrange(1, 12)):
            one, other = [core.step() for core in self.cores]
            if one is None or other is None:
                assert one is other
                return cycles
            assert_same_report(one, other)
            late = self.rng.randrange(4) == 0
            for host, report in zip(self.hosts, (one, other), strict=True):
                host.evict = (lambda _evict: None) if late else host.delete_victim
                host.carry_out(report.decisions)
            assert_same_state(self.cores[0], self.cores[1])
        return cycles

    def live(self, steps: int) -> int:
        """Things happen and cycles run in turn; returns the cycles."""
        cycles = 0
        for _ in range(steps):
            self.happen()
            cycles += self.run()
        for core in self.cores:
            core._check()
        return cycles


THEMES: dict[str, Theme] = {
    "full nodes and priorities": Theme(priorities=1, ports=6),
    "nominations beside preferences": Theme(priorities=2, nominations=4, preferences=2, ports=6),
    "budgets and units": Theme(priorities=1, budgets=1, trees=3),
    "racks": Theme(racks=1, trees=2, nodes=(4, 16)),
    "large gangs in racks": Theme(racks=1, trees=3, ports=8, members=14, nodes=(4, 16)),
    "racks with preferences": Theme(racks=1, trees=2, preferences=2, nodes=(4, 16)),
    "racks and priorities": Theme(racks=2, trees=2, priorities=1, nominations=8, nodes=(4, 16)),
    "spread": Theme(spread=1, preferences=4, nodes=(3, 16)),
    "default spread": Theme(owners=1, spread=6, nodes=(3, 16)),
    "affinity": Theme(affinity=2, nodes=(3, 16)),
    "affinity and spread": Theme(affinity=3, spread=3, preferences=3, owners=4, nodes=(3, 16)),
    "spread in racks": Theme(spread=2, affinity=3, racks=1, trees=3, nodes=(4, 16)),
    "preemption among rules": Theme(spread=3, affinity=3, priorities=1, racks=4, trees=4, budgets=2, nominations=10),
}


def seeds(themes: Sequence[str], count: int) -> list[tuple[str, int]]:
    return [(theme, seed) for theme in themes for seed in range(count)]
