"""DefaultPreemption: evict what is less important (spec podgroup-scheduling.md §5, node-plugins.md §8.3, §7.13)."""

from gangsched_plugins.default_preemption.plugin import DefaultPreemption

__all__ = ["DefaultPreemption"]
