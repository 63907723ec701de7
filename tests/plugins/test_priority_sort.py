"""PrioritySort: spec node-plugins.md §7.12."""

from __future__ import annotations

from gangsched_framework.infos import QueuedPodInfo
from gangsched_framework.testing import FakeHandle, make_pod
from gangsched_plugins.priority_sort import PrioritySort


def test_higher_priority_comes_first_and_then_who_waits_longer() -> None:
    plugin = PrioritySort({}, FakeHandle())
    waiting = [("late-high", 5, 20), ("early-low", -1, 1), ("early-high", 5, 10), ("middle", 0, 5)]
    entities = [QueuedPodInfo(make_pod(n).priority(p).obj(), t) for n, p, t in waiting]
    order = [entity.pod.name for entity in sorted(entities, key=plugin.sort_key)]
    assert order == ["early-high", "late-high", "middle", "early-low"]
