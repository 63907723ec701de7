"""What a plugin may declare about itself so that the engine can do less; the meaning of its points stays the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from gangsched_framework.interface import Plugin
from gangsched_framework.objects import Pod


@runtime_checkable
class DeclaresInertPoints(Plugin, Protocol):
    """Points (configuration names) where the plugin stands in the profile but never does anything: not called there."""

    @property
    def inert(self) -> tuple[str, ...]: ...


@runtime_checkable
class ReadsPreparedState(Plugin, Protocol):
    """A plugin that fails at ``filter`` or ``score`` where the profile disables the Pre point that prepares its state.

    ``unprepared``: by point, the words in which upstream's plugin says so, up to the name of the state.
    """

    @property
    def unprepared(self) -> Mapping[str, str]: ...


@runtime_checkable
class PreparesState(Plugin, Protocol):
    """A PostFilter that calls ``Framework.prepare`` before it reads the state: where columns found no node, PreFilter
    may not have been asked yet."""

    @property
    def prepares_state(self) -> bool: ...


@runtime_checkable
class JudgesPodAlone(Plugin, Protocol):
    """A PreFilter that reads the pod and the accounts, never nodes, keeps nothing in the state and does not filter.

    So it is asked before columns choose a node, and does not send the pod to the per-node form.
    """

    @property
    def judges_pod_alone(self) -> bool: ...
    def clears(self, pod: Pod) -> bool:
        """Whether it is sure to let every waiting pod of this one's tree pass, whichever stand somewhere in thought.

        False promises nothing: then each is asked about when its turn comes.
        """
        ...

    def rests_on(self, pods: Sequence[Pod]) -> Hashable:
        """What its answers to these pods, tried one after the other in one cycle, rest on at its beginning.

        Equal grounds, and pods of equal specs: equal answers, text by text, whichever of them find a node.
        """
        ...


@runtime_checkable
class KeepsToPlacement(Plugin, Protocol):
    """What it answers about a placement depends on the group, the progress and the placement's nodes alone.

    Of a group it reads what makes its kind: ``required``, topology constraint, shape of the tree, how many pods are
    scheduled, what the queued ones request; no names, labels or annotations. So groups of a kind get one answer.
    For PlacementGenerate, PlacementFeasible and PlacementScore; a scorer is then a ``PodsPlacementScorePlugin``, and
    normalises by the scores alone. And whether a PlacementFeasible goes on stays the same when the next child, pod or
    group, finds its place; what stands on nodes is all one to it.
    """

    @property
    def keeps_to_placement(self) -> bool: ...


@runtime_checkable
class IgnoresRequests(Plugin, Protocol):
    """A columnar plugin whose columns are the same for pods that differ in nothing but what they request."""

    @property
    def ignores_requests(self) -> bool: ...


@runtime_checkable
class MayBePowerless(Plugin, Protocol):
    """A PodGroupPostFilter that can tell when it has nothing to offer to any root of a priority, whatever the nodes.

    Its answer then depends on the pods of the tree alone. At any time it reads of a tree its priority, preemption
    policies and what makes its kind (see ``KeepsToPlacement``): in one state of the world equal trees get one answer.
    """

    def powerless(self, priority: int) -> bool: ...


@runtime_checkable
class DeclaresLocality(Plugin, Protocol):
    """What a plugin's Filter and Score of a node depend on: ``node``, ``domain`` (its topology domain) or ``global``.

    ``node``: that row alone, but for what nodes say of themselves (the images of others, spec node-plugins.md §7.8.4):
    pods of other nodes never matter. A plugin that declares nothing counts as global (architecture.md §5).
    """

    @property
    def locality(self) -> str: ...
