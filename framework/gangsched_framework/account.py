"""What the books hold of one tenant, of one job, and of pods that are alike (see ``accounts.py``)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define

from gangsched_framework.objects import EntityKey, Pod, PodSpec, Queue
from gangsched_framework.vectors import Vector


@define(eq=False)
class TenantAccount:
    """``queue`` None: pods name a Queue that does not exist. ``pods`` counts the requested ones."""

    name: str
    queue: Queue | None = None
    pods: int = 0
    request: Vector = ()
    allocated: Vector = ()


@define(eq=False)
class JobAccount:
    """A root entity: what its pods hold and ask for together."""

    key: EntityKey
    tenant: TenantAccount
    pods: int = 0
    request: Vector = ()
    allocated: Vector = ()


@define(eq=False)
class Like:
    """Pods of one job that request the same and came one after another.

    ``came``, ``settled``: how many more of them count, and are placed, than are in the sums. ``annotations`` None: they
    do not decide whom the pods count for, as their group is known.
    """

    job: JobAccount
    spec: PodSpec
    group_key: EntityKey | None
    annotations: Mapping[str, str] | None
    request: Vector
    came: int = 0
    settled: int = 0

    def has(self, pod: Pod) -> bool:
        """Whether a pod is one of them as far as it tells by itself."""
        return (
            self.spec is pod.spec
            and (self.annotations is None or self.annotations is pod.annotations)
            and self.group_key == pod.group_key
        )
