"""Mutated manifests are read or refused: no other error, no hang, no nonsense let through.

The long run: ``pytest -m slow tests/scheduler/manifests/test_fuzz.py`` (100,000 inputs).
"""

from __future__ import annotations

import copy
import io
import json
import random
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched.manifests import InputError, read_files
from gangsched.manifests.names import DNS_SUBDOMAIN
from gangsched_framework.objects import CompositePodGroup, Node, Pod, PodGroup

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "ns", "labels": {"app": "web"}, "creationTimestamp": "2026-01-01T00:00:00Z"},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "x",
                "resources": {"requests": {"cpu": "500m", "memory": 5}, "limits": {"nvidia.com/gpu": 1}},
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
            }
        ],
        "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            },
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 5,
                        "podAffinityTerm": {
                            "topologyKey": "zone",
                            "labelSelector": {"matchLabels": {"app": "web"}},
                            "mismatchLabelKeys": ["app2"],
                        },
                    }
                ]
            },
        },
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
        ],
        "schedulingGates": [{"name": "g"}],
        "schedulingGroup": {"podGroupName": "pg"},
        "priority": 5,
        "overhead": {"cpu": "1m"},
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
    },
    "status": {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}],
    },
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n", "labels": {"zone": "a"}},
    "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": False},
    "status": {"capacity": {"cpu": "4", "pods": 110}, "images": [{"names": ["a"], "sizeBytes": 1}]},
}
GROUP = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"generateName": "g-"},
    "spec": {
        "schedulingPolicy": {"gang": {"minCount": 2}},
        "schedulingConstraints": {"topology": [{"key": "rack"}]},
        "disruptionMode": {"all": {}},
        "parentCompositePodGroupName": "root",
        "workloadRef": {"workloadName": "w", "templateName": "t"},
    },
}
COMPOSITE = {
    "apiVersion": "scheduling.k8s.io/v1alpha3",
    "kind": "CompositePodGroup",
    "metadata": {"name": "root"},
    "spec": {
        "schedulingPolicy": {"gang": {"minGroupCount": 1}},
        "workloadRef": {"workloadName": "w", "templateName": "t"},
        "priorityClassName": "urgent",
    },
}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 7}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": "50%"},
    "status": {"disruptionsAllowed": 1},
}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
ONE_SHOT = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j"},
    "spec": {"parallelism": 2, "scheduling": {"schedulingPolicy": {"gang": {}}}, "template": ONE_SHOT},
}
JOB_SET = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "js"},
    "spec": {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"template": ONE_SHOT}}}]},
}
LEADER_WORKER_SET = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "l"},
    "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
}
VOLCANO_JOB = {
    "apiVersion": "batch.volcano.sh/v1alpha1",
    "kind": "Job",
    "metadata": {"name": "v"},
    "spec": {"minAvailable": 1, "tasks": [{"name": "t", "replicas": 2, "template": TEMPLATE}]},
}
ITEMS = [POD, NODE, GROUP, COMPOSITE, CLASS, BUDGET, DEPLOYMENT, JOB, JOB_SET, LEADER_WORKER_SET, VOLCANO_JOB]
WHOLE = {"apiVersion": "v1", "kind": "List", "items": ITEMS}

NONSENSE: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**50, 0.5, -0.0, 1e300, float("inf"), float("nan")),
    *(
        "",
        "x",
        "X_",
        "é",
        "\u2028",
        "-1",
        "1e9",
        "500m",
        "9E",
        "5 Gi",
        "{{.x}}",
        "null",
        "a" * 300,
        "2026-13-01T00:00:00Z",
    ),
    *([], {}, [[]], {"a": {}}, [None], {"": ""}, {"items": []}, [{"key": 5}]),
]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) in a document."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def mutated(dice: random.Random, document: Any) -> Any:
    """``document`` with one place dropped, retyped, renamed, duplicated, moved or nested."""
    document = copy.deepcopy(document)
    container, key = dice.choice(places(document))
    kind = dice.randrange(7)
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = dice.choice(NONSENSE)
    elif kind == 2 and isinstance(container, dict):
        container[dice.choice([str(key).upper(), str(key)[:-1], f"{key}s", "x", ""])] = container.pop(key)
    elif kind == 3 and isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    elif kind == 4:
        other, other_key = dice.choice(places(document))
        container[key] = copy.deepcopy(other[other_key])
    elif kind == 5:
        container[key] = [container[key]]
    else:
        container[key] = {dice.choice(["a", str(key)]): container[key]}
    return document


def as_text(dice: random.Random, document: Any) -> bytes:
    """``document`` as JSON or YAML, sometimes cut, doubled or with a byte changed."""
    if dice.randrange(2):
        raw = json.dumps(document).encode()
    else:
        raw = yaml.dump(document, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), allow_unicode=True).encode()
    kind = dice.randrange(12)
    at = dice.randrange(len(raw) + 1)
    if kind == 0:
        return raw[:at]
    if kind == 1:
        return raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]
    if kind == 2:
        return raw[:at] + raw[at // 2 :]
    return raw


def read_or_refused(seed: int) -> bool:
    """Read one mutation; whether it was accepted."""
    dice = random.Random(seed)
    document: Any = dice.choice([WHOLE, *ITEMS])
    for _ in range(dice.randrange(1, 4)):
        document = mutated(dice, document) if document else document
    raw = as_text(dice, document)
    started = time.monotonic()
    try:
        objects = read_files(["-"], stdin=io.BytesIO(raw)).objects
    except InputError as error:
        text = str(error)
        assert "\n" not in text
        assert len(text) < 1000, text
        return False
    finally:
        assert time.monotonic() - started < 5, f"seed {seed} took too long"
    for obj in objects:
        assert_sense(obj)
    return True


def assert_sense(obj: object) -> None:
    """Accepted objects obey what every API server holds of them."""
    if isinstance(obj, Pod):
        assert DNS_SUBDOMAIN.accepts(obj.name)
        assert obj.spec.containers
        assert isinstance(obj.priority, int)
        assert not (obj.node_name and obj.scheduling_gates)
        for amounts in (c.requests for c in obj.spec.containers):
            assert all(type(amount) is int and amount >= 0 for amount in amounts.values())
        assert obj.usage.requested.milli_cpu >= 0
    elif isinstance(obj, PodGroup | CompositePodGroup):
        assert obj.minimum is None or 1 <= obj.minimum < 2**31
        assert obj.gang or obj.disruption_mode == "single" or isinstance(obj, CompositePodGroup)
    elif isinstance(obj, Node):
        assert all(taint.effect in ("NoSchedule", "PreferNoSchedule", "NoExecute") for taint in obj.taints)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**63))
def test_mutated_manifests_are_read_or_refused(seed: int) -> None:
    read_or_refused(seed)


def test_the_manifests_themselves_are_accepted() -> None:
    objects = read_files(["-"], stdin=io.BytesIO(json.dumps(WHOLE).encode())).objects
    assert len(objects) == 6 + (1 + 2) + (1 + 2) + 2 + 2 + (1 + 2)


@pytest.mark.slow
def test_a_hundred_thousand_mutated_manifests_are_read_or_refused() -> None:
    accepted = sum(read_or_refused(seed) for seed in range(100_000))
    assert 1_000 < accepted < 50_000  # both ends matter: mutations must hit, and some must be harmless
