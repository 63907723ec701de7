"""InterPodAffinity: pods that want to be near other pods, or away from them (spec node-plugins.md §7.10)."""

from gangsched_plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
