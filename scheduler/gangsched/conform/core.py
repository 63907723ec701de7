"""From what a recording says of its configuration to a core that runs under it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import frozen

from gangsched.config import FeatureGates, SchedulerConfig, default_config, load_config
from gangsched.config.defaults import KNOWN_PLUGINS
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework.registry import Registry
from gangsched_plugins.default_registry import default_registry

KIND = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
"""A configuration document that says nothing."""


@frozen
class Setup:
    """Profiles, gates and backoffs of one recording, and the plugins there are."""

    config: SchedulerConfig
    registry: Registry

    @classmethod
    def of_scenario(cls, config: Mapping[str, Any]) -> Setup:
        """The ``config`` of a kube scenario (conformance README §2)."""
        registry, gates = default_registry(), FeatureGates(config.get("gates"))
        document = config.get("kubeSchedulerConfiguration")
        if document is None:
            return cls(default_config(gates, registry), registry)
        return cls(load_config(document, gates, registry), registry)

    @classmethod
    def of_case(cls, case: Mapping[str, Any]) -> Setup:
        """A node-plugin case: one profile, upstream's gates and node order."""
        registry, gates = default_registry(), FeatureGates(case.get("gates"), start=FeatureGates.UPSTREAM)
        document = {
            **KIND,
            "percentageOfNodesToScore": case.get("percentageOfNodesToScore", 100),
            "profiles": [case.get("profile") or {}],
        }
        return cls(load_config(document, gates, registry, node_order="upstream"), registry)

    def scheduler(self) -> Scheduler:
        """A core without objects at engine time 0."""
        settings = Settings(
            initial_backoff=self.config.initial_backoff,
            max_backoff=self.config.max_backoff,
            node_order=self.config.node_order,
            tracing=True,
        )
        return Scheduler(self.config.profiles, self.registry, settings=settings, feature_gates=self.config.gates)


@cache
def unbuilt_plugins() -> frozenset[str]:
    """Plugins of the real default profile that this engine does not have."""
    return frozenset(KNOWN_PLUGINS) - frozenset(default_registry())


def built_only(value: Any) -> Any:
    """The value without names of plugins that are not built: as map keys, as items of lists, as ``name`` of an item."""
    missing = unbuilt_plugins()
    if not missing:
        return value
    if isinstance(value, Mapping):
        return {key: built_only(inner) for key, inner in value.items() if key not in missing}
    if isinstance(value, list):
        return [built_only(item) for item in value if _name(item) not in missing]
    return value


def _name(item: Any) -> Any:
    if isinstance(item, Mapping):
        return item.get("name")
    return item if isinstance(item, str) else None
