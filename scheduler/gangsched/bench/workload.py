"""What a case brings to the engine."""

from __future__ import annotations

from attrs import frozen

from gangsched_framework.objects import Group, Node, Pod, Queue, SelectorOwner


@frozen
class Step:
    """Pods that go and pods that come; then the engine runs until nothing is ready."""

    add: tuple[Pod, ...]
    delete: tuple[Pod, ...] = ()


@frozen
class Workload:
    """``nodes``, ``groups``, ``owners`` (services and controllers) and ``before`` (pods already assigned, or tried
    before the clock starts) are not timed; nor are ``queues``, which share the cluster by ``tiers``."""

    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]
    groups: tuple[Group, ...] = ()
    before: tuple[Pod, ...] = ()
    owners: tuple[SelectorOwner, ...] = ()
    queues: tuple[Queue, ...] = ()
    tiers: tuple[str, ...] = ()

    @property
    def pods(self) -> int:
        """Pods whose handling is timed."""
        return sum(len(step.add) for step in self.steps)
