"""A group appears, changes or goes (spec §2.11). The forest already shows the change."""

from __future__ import annotations

from gangsched_framework.objects import EntityKey, Group
from gangsched_queue.containers import Containers
from gangsched_queue.waiting import ACTIVE


def add_group(queue: Containers, group: Group) -> None:
    """A group appears: members that waited for it join the entity of their root."""
    root = queue.forest.root(group.key)
    if root is None:
        return
    if root in queue.waiting.dormant:
        queue.waiting.rouse(root)
    queue.readd(list(queue.forest.leaves_below(group.key)))


def update_group(queue: Containers, group: Group) -> None:
    """A group changes. One whose parent changed is to be deleted and added instead."""
    root = queue.forest.root(group.key) if group.parent_name else group.key
    found = queue.waiting.find_tree(root) if root is not None else None
    if found is None:
        return
    entity, place = found
    if root == group.key:
        entity.renew(group)
    if place is ACTIVE:
        queue.waiting.active.touch(entity)  # whoever counts what is ready looks at every group of the tree


def delete_group(queue: Containers, key: EntityKey, root: EntityKey | None) -> None:
    """A group goes away; ``root`` is what ``forest.root(key)`` said before."""
    if root is None:  # the chain was broken before: the pods are incomplete already
        return
    leaves = list(queue.forest.leaves_below(key)) or [key]
    if root == queue.last_popped:
        for leaf in leaves:
            for info in queue.pending.take(leaf):
                queue.incomplete.add(leaf, info)
    found = queue.waiting.find_tree(root)
    if found is None:
        return
    entity, place = found
    for leaf in leaves:
        for info in entity.members_of(leaf):
            entity.remove(leaf, info.pod.key)
            queue.incomplete.add(leaf, info)
    if not entity.size:
        queue.waiting.take(root)
        return
    queue.waiting.requeue(entity, place.value, place)  # a waiting tree may become gated
