"""NodeResourcesFit: does the pod fit, and which fit is best (spec node-plugins.md §7.6)."""

from gangsched_plugins.node_resources_fit.plugin import NodeResourcesFit

__all__ = ["NodeResourcesFit"]
