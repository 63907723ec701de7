"""What emptying a node for a kind of preemptor came to, kept while the node is untouched.

While every plugin that filters the preemptor looks at one node alone, a dry run depends on the node, on the pods and
nominations on it, and on the priorities of their groups. Of the nodes looked at for one preemptor few have changed when
the next one comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import frozen

from gangsched_framework.objects import POD, EntityKey, Pod
from gangsched_framework.status import Status
from gangsched_plugins.default_preemption.candidates import Candidate
from gangsched_plugins.default_preemption.units import Unit, UnitFinder

Answer = Candidate | Status

Climbs = tuple[tuple[EntityKey, int | None], ...]
"""Group of pods -> the priority that counts for them (None = their own); each pod goes alone."""


@frozen(eq=False)
class DryRun:
    """The answer, and what the groups of the pods on the node were then."""

    answer: Answer
    climbs: Climbs

    @classmethod
    def of(cls, answer: Answer, pods: Iterable[Pod], units: Sequence[Unit], finder: UnitFinder) -> DryRun | None:
        """None when a unit may reach beyond the node. ``pods``: all those on it."""
        climbs = climbs_of(pods, finder)
        return None if climbs is None or any(unit.key.kind != POD for unit in units) else cls(answer, climbs)


def climbs_of(pods: Iterable[Pod], finder: UnitFinder) -> Climbs | None:
    """What the groups of ``pods`` are; None when one of them goes as a whole."""
    leaves = dict.fromkeys(pod.group_key for pod in pods if pod.group_key is not None)
    climbed = [(leaf, *finder.climb(leaf)) for leaf in leaves]
    if any(group is not None for _, group, _ in climbed):
        return None
    return tuple((leaf, priority) for leaf, _, priority in climbed)


def still(climbs: Climbs, finder: UnitFinder) -> bool:
    """Whether the groups are what they were."""
    return all(finder.climb(leaf) == (None, priority) for leaf, priority in climbs)
