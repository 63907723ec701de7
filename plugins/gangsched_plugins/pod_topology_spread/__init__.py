"""PodTopologySpread: keep matching pods evenly spread over topology domains (spec node-plugins.md §7.9)."""

from gangsched_plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
