"""From what a recording says of its configuration to a core that runs under it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from gangsched.config import ConfigFileError, FeatureGates, SchedulerConfig, default_config, load_config
from gangsched.conform.errors import NotBuilt
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched_framework.registry import Registry
from gangsched_plugins.default_registry import default_registry

SILENT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
"""A configuration document that says nothing."""

NOT_MODELLED = ("NominatedNodeNameForExpectation", "SchedulerAsyncAPICalls", "SchedulerPreQueueingHints")
"""Gates whose effect on what a kube scenario records is not built (spec podgroup-scheduling.md §0.3)."""


@frozen
class Setup:
    """Profiles, gates and backoffs of one recording, and the plugins there are.

    Making one raises NotBuilt when the recording needs a plugin that does not exist, ConfigurationError for what
    cannot be a configuration at all.
    """

    config: SchedulerConfig
    registry: Registry

    @classmethod
    def of_scenario(cls, config: Mapping[str, Any], file: str | None = None) -> Setup:
        """The ``config`` of a kube scenario (conformance README §2). ``file`` stands in where it brings no document."""
        gates = FeatureGates(config.get("gates"))
        for name in NOT_MODELLED:
            if gates[name]:
                raise NotBuilt(f"needs feature gate {name}")
        source = config.get("kubeSchedulerConfiguration") or file
        if source is None:
            registry = default_registry()
            return cls(default_config(gates, registry), registry)
        return cls._load(source, gates, upstream=False)

    @classmethod
    def of_case(cls, case: Mapping[str, Any]) -> Setup:
        """A node-plugin case: one profile, upstream's gates and node order."""
        document = {
            **SILENT,
            "percentageOfNodesToScore": case.get("percentageOfNodesToScore", 100),
            "profiles": [case.get("profile") or {}],
        }
        return cls._load(document, FeatureGates(case.get("gates"), start=FeatureGates.UPSTREAM), upstream=True)

    @classmethod
    def _load(cls, source: str | Mapping[str, Any], gates: FeatureGates, *, upstream: bool) -> Setup:
        registry = default_registry()
        try:
            config = load_config(source, gates, registry, node_order="upstream" if upstream else None)
        except ConfigFileError as refusal:
            unknown = re.search(r'"([^"]+)" does not exist', refusal.message)
            if refusal.stage == "build" and unknown:
                raise NotBuilt(f"needs plugin {unknown[1]}") from None
            raise
        return cls(config, registry)

    def scheduler(self, *, tracing: bool = True, oracle: bool = False) -> Scheduler:
        """A core without objects at engine time 0. ``oracle``: one that never uses columns."""
        settings = Settings(
            initial_backoff=self.config.initial_backoff,
            max_backoff=self.config.max_backoff,
            node_order=self.config.node_order,
            groups=self.config.group_scheduling,
            tracing=tracing,
            oracle=oracle,
        )
        return Scheduler(self.config.profiles, self.registry, settings=settings, feature_gates=self.config.gates)
