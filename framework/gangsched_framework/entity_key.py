"""EntityKey: the identity of a pod or group (spec podgroup-scheduling.md §1.5)."""

from __future__ import annotations

from functools import lru_cache

POD = "pod"
POD_GROUP = "podgroup"
COMPOSITE_POD_GROUP = "compositepodgroup"

_KEPT = 1 << 14
"""So many keys are remembered, those asked for last."""


class EntityKey(str):
    """Identity of a pod or group: its text ``type/namespace/name`` (spec §1.5), type first.

    Being a ``str``, keys sort in byte order, which is the last tie of every order.
    """

    __slots__ = ()

    @classmethod
    def of(cls, kind: str, namespace: str, name: str) -> EntityKey:
        """Build a key; ``kind`` is ``pod``, ``podgroup`` or ``compositepodgroup``."""
        return _key(kind, namespace, name)

    @property
    def kind(self) -> str:
        return self.split("/", 1)[0]

    @property
    def namespace(self) -> str:
        return self.split("/", 2)[1]

    @property
    def name(self) -> str:
        return self.split("/", 2)[2]

    @property
    def full_name(self) -> str:
        """``namespace/name``, without the type."""
        return self.split("/", 1)[1]


def key_of_pod(name: str) -> EntityKey:
    """The key of the entity that pod ``name`` (``namespace/name``) is."""
    return EntityKey(f"{POD}/{name}")


@lru_cache(maxsize=_KEPT)
def _key(kind: str, namespace: str, name: str) -> EntityKey:
    """One object for a group and all that name it: dictionaries find it by identity, without comparing texts."""
    return EntityKey(f"{kind}/{namespace}/{name}")
