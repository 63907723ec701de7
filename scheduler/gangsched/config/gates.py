"""Feature gates: which there are, their defaults, and the text form ``Name=true,Other=false``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar

from gangsched_framework.errors import ConfigurationError, did_you_mean

# Defaults of v1.37 (node-plugins.md §0.1, podgroup-scheduling.md §0.3).
_UPSTREAM: dict[str, bool] = {
    "CompositePodGroup": False,
    "DRAExtendedResource": True,
    "DynamicResourceAllocation": True,
    "GenericWorkload": False,
    "InPlacePodLevelResourcesVerticalScaling": True,
    "InPlacePodVerticalScaling": True,
    "InPlacePodVerticalScalingSchedulerPreemption": False,
    "InterPodAffinityHostnameFastPath": False,
    "MatchLabelKeysInPodAffinity": True,
    "MatchLabelKeysInPodTopologySpread": True,
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": True,
    "NodeDeclaredFeatures": True,
    "NodeInclusionPolicyInPodTopologySpread": True,
    "NominatedNodeNameForExpectation": True,
    "OpportunisticBatching": True,
    "PodGroupPreemptionPolicy": False,
    "PodLevelResources": True,
    "PodLevelResourcesFixDefaulting": True,
    "SchedulerAsyncAPICalls": False,
    "SchedulerAsyncPreemption": True,
    "SchedulerPopFromBackoffQ": True,
    "SchedulerPreQueueingHints": False,
    "StorageCapacityScoring": True,
    "TaintTolerationComparisonOperators": False,
    "TopologyAwareWorkloadScheduling": False,
}

# What the recordings run with, and so the product (conformance README §2, architecture.md §9).
_BASE: dict[str, bool] = {
    **_UPSTREAM,
    "GenericWorkload": True,
    "TopologyAwareWorkloadScheduling": True,
    "CompositePodGroup": True,
    "OpportunisticBatching": False,
    "SchedulerAsyncPreemption": False,
    "SchedulerAsyncAPICalls": False,
    "NominatedNodeNameForExpectation": False,
}

# Locked by upstream; and the one whose plugin (DeferredPodScheduling) is not built (node-plugins.md §0.1).
_LOCKED = (
    "DRAExtendedResource",
    "DynamicResourceAllocation",
    "InPlacePodVerticalScaling",
    "MatchLabelKeysInPodAffinity",
    "NodeDeclaredFeatures",
    "NodeInclusionPolicyInPodTopologySpread",
)
_UNSUPPORTED = ("InPlacePodVerticalScalingSchedulerPreemption",)

# What these switch is always done here, so off would be a lie (node-plugins.md §0.1).
_ALWAYS_ON = (
    "InPlacePodLevelResourcesVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "PodLevelResources",
    "PodLevelResourcesFixDefaulting",
)

# podgroup-scheduling.md §0.3
_NEEDS = {"CompositePodGroup": ("GenericWorkload", "TopologyAwareWorkloadScheduling")}

_TRUE = ("1", "t", "T", "true", "TRUE", "True")
_FALSE = ("0", "f", "F", "false", "FALSE", "False")


class FeatureGates(Mapping[str, bool]):
    """Every known gate with its value; immutable. ``FeatureGates()`` is the product's default, ``BASE``.

    ``changes`` are laid over ``start``. Raises ConfigurationError for an unknown gate (with the nearest name), a value
    that is no bool, a gate that is locked or not built, and one without those it needs.
    """

    BASE: ClassVar[FeatureGates]
    """Base set of the conformance recordings: groups, composite groups and placements on."""
    UPSTREAM: ClassVar[FeatureGates]
    """Defaults of kube-scheduler v1.37."""

    def __init__(self, changes: Mapping[str, bool] | None = None, *, start: Mapping[str, bool] = _BASE) -> None:
        values = dict(start)
        if not isinstance(changes, Mapping | None):
            raise ConfigurationError(
                f"feature gates: found a {type(changes).__name__}, allowed a mapping of names to bool"
            )
        for name, value in (changes or {}).items():
            if name not in values:
                raise ConfigurationError(f"unrecognized feature gate: {name}{did_you_mean(name, values)}")
            if not isinstance(value, bool):
                raise ConfigurationError(f"feature gate {name}: found {value!r}, allowed true or false")
            if name in _LOCKED and value != _UPSTREAM[name]:
                locked = str(_UPSTREAM[name]).lower()
                text = f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {locked}"
                raise ConfigurationError(text)
            if name in _UNSUPPORTED and value:
                raise ConfigurationError(f"feature gate {name} is not supported")
            if name in _ALWAYS_ON and not value:
                raise ConfigurationError(f"feature gate {name} cannot be switched off here")
            values[name] = value
        for name, needed in _NEEDS.items():
            missing = [other for other in needed if not values[other]]
            if values[name] and missing:
                off = f"which {'is' if len(missing) == 1 else 'are'} off; turn {name} off too"
                raise ConfigurationError(f"feature gate {name} is on but needs {' and '.join(missing)}, {off}")
        self._values = MappingProxyType(dict(sorted(values.items())))

    @classmethod
    def parse(cls, text: str, *, start: Mapping[str, bool] = _BASE) -> FeatureGates:
        """Read ``Name=true,Other=false`` (spaces around names and values allowed; '' changes nothing)."""
        changes: dict[str, bool] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise ConfigurationError(f"missing bool value for feature gate {name}; write {name}=true")
            if value not in _TRUE + _FALSE:
                raise ConfigurationError(f'invalid value of {name}={value}: found "{value}", allowed true or false')
            changes[name] = value in _TRUE
        return cls(changes, start=start)

    def __getitem__(self, name: str) -> bool:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return f"FeatureGates({dict(self.changes())})"

    def changes(self) -> Mapping[str, bool]:
        """The gates that differ from the base set."""
        return {name: value for name, value in self._values.items() if value != _BASE[name]}


FeatureGates.BASE = FeatureGates()
FeatureGates.UPSTREAM = FeatureGates(start=_UPSTREAM)
