"""The handle plugins hold: read access to what the core owns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from attrs import define, field

from gangsched.engine.trace import Tracer
from gangsched.engine.world import World
from gangsched_framework.accounts import Accounts
from gangsched_framework.framework import Framework
from gangsched_framework.handle import Clock, Nominations
from gangsched_framework.hierarchy import Forest
from gangsched_framework.objects import Namespace, Pod, PodDisruptionBudget, SelectorOwner
from gangsched_framework.snapshot import Snapshot


@define(eq=False)
class EngineClock:
    """Engine time, set by the core alone."""

    time: int = 0


@define(eq=False)
class EngineHandle:
    """Implements ``gangsched_framework.handle.Handle``."""

    clock: Clock
    world: World
    snapshot: Snapshot
    nominations: Nominations
    feature_gates: Mapping[str, bool]
    tracer: Tracer
    give_up: Callable[[BaseException], None]
    oracle: bool = False
    rehearsal: bool = False
    frameworks: dict[str, Framework] = field(factory=dict)

    @property
    def tracing(self) -> bool:
        return self.tracer.on

    def trace(self, subject: str, text: str) -> None:
        self.tracer.add("note", subject, text)

    @property
    def accounts(self) -> Accounts:
        return self.world.keep_accounts(self.snapshot)

    @property
    def forest(self) -> Forest:
        return self.world.forest

    @property
    def namespaces(self) -> Mapping[str, Namespace]:
        return self.world.namespaces

    @property
    def selector_owners(self) -> Collection[SelectorOwner]:
        return self.world.selector_owners.values()

    @property
    def lister_version(self) -> int:
        return self.world.listed

    def newest(self, pod: Pod) -> Pod | None:
        return self.world.pods.get(pod.key)

    @property
    def disruption_budgets(self) -> Sequence[PodDisruptionBudget]:
        return tuple(self.world.disruption_budgets.values())

    def framework_for(self, scheduler_name: str) -> Framework | None:
        return self.frameworks.get(scheduler_name)
