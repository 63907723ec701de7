"""Feature gates: base set, the text form, and what is refused."""

from __future__ import annotations

import pytest

from gangsched.config import FeatureGates
from gangsched_framework.errors import ConfigurationError

GROUPS = ["CompositePodGroup", "GenericWorkload", "TopologyAwareWorkloadScheduling"]


def test_the_base_set_is_that_of_the_recordings() -> None:
    base, upstream = FeatureGates.BASE, FeatureGates.UPSTREAM

    assert {name for name in base if base[name] != upstream[name]} == {
        *GROUPS,
        "OpportunisticBatching",
        "SchedulerAsyncPreemption",
        "NominatedNodeNameForExpectation",
    }
    assert all(base[name] for name in GROUPS)
    assert base["SchedulerPopFromBackoffQ"]
    off = ("SchedulerAsyncAPICalls", "SchedulerPreQueueingHints", "PodGroupPreemptionPolicy", "OpportunisticBatching")
    assert not any(base[name] for name in off)
    assert FeatureGates() == base
    assert list(base) == sorted(base)


PARSED = {
    "nothing": ("", {}),
    "one": ("PodGroupPreemptionPolicy=true", {"PodGroupPreemptionPolicy": True}),
    "several with spaces and a last comma": (
        " CompositePodGroup = false , SchedulerPreQueueingHints=T,",
        {"CompositePodGroup": False, "SchedulerPreQueueingHints": True},
    ),
    "the last one wins": ("PodLevelResources=0,PodLevelResources=1", {}),
    "a locked gate may be set to what it is": ("NodeDeclaredFeatures=true", {}),
    "groups off altogether": (
        "GenericWorkload=false,TopologyAwareWorkloadScheduling=false,CompositePodGroup=false",
        dict.fromkeys(GROUPS, False),
    ),
}


@pytest.mark.parametrize(("text", "want"), PARSED.values(), ids=PARSED)
def test_parse(text: str, want: dict[str, bool]) -> None:
    gates = FeatureGates.parse(text)

    assert gates.changes() == want
    assert gates == {**FeatureGates.BASE, **want}


REFUSED = {
    "an unknown name": ("GenericWorkloads=true", 'feature gate: GenericWorkloads; did you mean "GenericWorkload"?'),
    "a name in the wrong case": ("genericworkload=true", 'genericworkload; did you mean "GenericWorkload"?'),
    "no value": ("GenericWorkload", "missing bool value for feature gate GenericWorkload; write GenericWorkload=true"),
    "a value that is no bool": ("GenericWorkload=yes", 'GenericWorkload=yes: found "yes", allowed true or false'),
    "a locked gate": (
        "NodeDeclaredFeatures=false",
        "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true",
    ),
    "trees without topology": (
        "TopologyAwareWorkloadScheduling=false",
        "feature gate CompositePodGroup is on but needs TopologyAwareWorkloadScheduling, which is off",
    ),
    "trees without groups or topology": (
        "TopologyAwareWorkloadScheduling=false,GenericWorkload=false",
        "CompositePodGroup is on but needs GenericWorkload and TopologyAwareWorkloadScheduling, which are off",
    ),
    "a gate that is always on here": (
        "PodLevelResources=false",
        "feature gate PodLevelResources cannot be switched off here",
    ),
    "a gate whose plugin is not built": (
        "InPlacePodVerticalScalingSchedulerPreemption=true",
        "feature gate InPlacePodVerticalScalingSchedulerPreemption is not supported",
    ),
}


@pytest.mark.parametrize(("text", "want"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, want: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        FeatureGates.parse(text)

    assert want in str(caught.value)


def test_a_mapping_with_text_for_a_bool_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="feature gate GenericWorkload: found 'true', allowed true or false"):
        FeatureGates({"GenericWorkload": "true"})  # type: ignore[dict-item]
