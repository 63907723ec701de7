"""How large a case is, and how its name says so."""

from __future__ import annotations

import re

from attrs import evolve, frozen

_SIZES = re.compile(r"(\d+)Nodes_(?:(\d+)Pods|(\d+)x(\d+)(?:x(\d+))?)")


@frozen
class Sizes:
    """``entities``: plain pods, gangs of ``members`` pods, or trees of ``children`` gangs each; 0 = not there."""

    nodes: int
    entities: int
    children: int = 0
    members: int = 0

    @property
    def pods(self) -> int:
        """Pods that are timed."""
        return self.entities * max(1, self.children) * max(1, self.members)

    def __str__(self) -> str:
        if not self.members:
            return f"{self.nodes}Nodes_{self.entities}Pods"
        parts = (self.entities, self.children, self.members) if self.children else (self.entities, self.members)
        return f"{self.nodes}Nodes_{'x'.join(map(str, parts))}"

    @classmethod
    def parse(cls, text: str) -> Sizes | None:
        """Sizes as ``str`` writes them; None for anything else."""
        match = _SIZES.fullmatch(text)
        if match is None:
            return None
        nodes, pods, entities, second, third = (int(group) if group else 0 for group in match.groups())
        if pods:
            return cls(nodes, pods)
        return cls(nodes, entities, second, third) if third else cls(nodes, entities, 0, second)

    def like(self, other: Sizes) -> bool:
        """Whether both are of one kind: plain pods, gangs, or trees."""
        return (bool(self.children), bool(self.members)) == (bool(other.children), bool(other.members))

    def with_pods(self, pods: int) -> Sizes:
        """At most about ``pods`` pods: fewer entities, and when one entity is still too large, fewer members."""
        if pods >= self.pods:
            return self
        each = self.pods // self.entities
        if each <= pods:
            return evolve(self, entities=pods // each)
        return evolve(self, entities=1, members=max(1, pods // max(1, self.children)) if self.members else 0)

    def scaled(self, share: float) -> Sizes:
        """``share`` of the nodes and of the pods, at least one of each."""
        return evolve(self.with_pods(max(1, int(self.pods * share))), nodes=max(1, int(self.nodes * share)))
