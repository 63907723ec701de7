"""A case: how large it is, what it brings, and a trial made of it. Cases are data; see ``cases``."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, field, frozen

from gangsched.bench.outcome import Trial
from gangsched.bench.scheduling import SchedulingTrial
from gangsched.bench.sizes import Sizes
from gangsched.bench.workload import Workload


@frozen
class Case:
    """``build`` makes the workload of any size. ``patient``: the virtual clock moves over backoffs."""

    family: str
    about: str
    sizes: Sizes
    build: Callable[[Sizes], Workload] = field(repr=False)
    patient: bool = False

    @property
    def name(self) -> str:
        """``Family/5000Nodes_10000Pods``."""
        return f"{self.family}/{self.sizes}"

    def sized(self, sizes: Sizes) -> Case:
        return evolve(self, sizes=sizes)

    def on(self, nodes: int) -> Case:
        """The same pods on another number of nodes."""
        return self.sized(evolve(self.sizes, nodes=nodes))

    def scaled(self, share: float) -> Case:
        """``share`` of the nodes and of the pods."""
        return self.sized(self.sizes.scaled(share))

    def trial(self, *, oracle: bool = False) -> Trial:
        """A run, prepared up to the moment the clock starts. ``oracle``: by the per-node form of every plugin."""
        return SchedulingTrial(self.build(self.sizes), patient=self.patient, oracle=oracle)
