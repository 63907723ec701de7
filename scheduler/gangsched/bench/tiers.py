"""The profile of a case: the default one, or with tiers of fair sharing in place of PrioritySort."""

from __future__ import annotations

from collections.abc import Sequence

from gangsched.config import FeatureGates, SchedulerConfig, default_config, load_config
from gangsched_framework.registry import Registry

FAIR = ("DRF", "Proportion")
HIERARCHICAL = ("HDRF",)


def profile_of(tiers: Sequence[str], registry: Registry) -> SchedulerConfig:
    """The default plugins; ``tiers`` are the plugins at queueSort, none = PrioritySort."""
    if not tiers:
        return default_config(FeatureGates(), registry)
    plugins = {
        "multiPoint": {"disabled": [{"name": "DynamicResources"}]},  # as where no document is given
        "queueSort": {"enabled": [{"name": tier} for tier in tiers]},
    }
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins}],
    }
    return load_config(document, FeatureGates(), registry)
