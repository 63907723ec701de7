"""Valid input of every kind the command reads; what the fuzzer damages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gangsched.replay.converters.philly import HEADER as PHILLY
from tests.scheduler.replay.traces import HEADER, add, composite, delete, group, node, pod, update

ROOT = Path(__file__).resolve().parents[2]

# --- manifests ------------------------------------------------------------------------------------------------------

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
STATEFUL_SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "s"},
    "spec": {"replicas": 1, "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE},
}
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"app": "web"}}}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": {"team": "a"}}}
RUNTIME = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "kata"},
    "handler": "kata",
    "overhead": {"podFixed": {"cpu": "250m"}},
    "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]},
}
QUEUE = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "Queue",
    "metadata": {
        "name": "team-a",
        "annotations": {"volcano.sh/hierarchy": "root/eng/a", "volcano.sh/hierarchy-weights": "1/2/8"},
    },
    "spec": {
        "weight": 2,
        "capability": {"cpu": "10", "nvidia.com/gpu": 4},
        "deserved": {"cpu": "2"},
        "guarantee": {"resource": {"cpu": "500m"}},
        "reclaimable": False,
    },
    "status": {"state": "Open"},
}
VOLCANO_GROUP = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "vg"},
    "spec": {"minMember": 2, "queue": "team-a", "priorityClassName": "urgent"},
}
ITEMS = [
    *(POD, NODE, GROUP, COMPOSITE, CLASS, BUDGET, DEPLOYMENT, JOB, JOB_SET, LEADER_WORKER_SET, VOLCANO_JOB),
    *(STATEFUL_SET, SERVICE, NAMESPACE, RUNTIME, QUEUE, VOLCANO_GROUP),
]
WHOLE = {"apiVersion": "v1", "kind": "List", "items": ITEMS}
CLUSTER: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        *(node(name) for name in ("n1", "n2")),
        CLASS,
        composite("root", 1),
        group("g", 2, "root"),
        group("h", None, "root"),
        *(pod(f"g-{number}", in_group="g") for number in range(2)),
        pod("h-0", in_group="h"),
        pod("runs", "3", nodeName="n2"),
        pod("plain", "2", priorityClassName="urgent"),
    ],
}

# --- configurations -------------------------------------------------------------------------------------------------

CONFIG: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 4,
    "percentageOfNodesToScore": 50,
    "percentageOfPlacementsToScore": 50,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 10,
    "leaderElection": {"leaderElect": False},
    "profiles": [
        {
            "schedulerName": "a",
            "plugins": {
                "multiPoint": {"disabled": [{"name": "ImageLocality"}]},
                "score": {"enabled": [{"name": "NodeAffinity", "weight": 5}], "disabled": [{"name": "*"}]},
                "filter": {"enabled": [{"name": "NodeName"}]},
            },
            "pluginConfig": [
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 5}},
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "ignoredResources": ["example.com/foo"],
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 3}],
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 1}]},
                        },
                    },
                },
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
                        ],
                    },
                },
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                                ]
                            }
                        }
                    },
                },
                {"name": "DynamicResources", "args": {"filterTimeout": "5s"}},
                {"name": "VolumeBinding", "args": {"shape": [{"utilization": 0, "score": 1}]}},
                {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 5}},
                {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "cpu"}]}},
            ],
        },
        {"schedulerName": "b", "percentageOfNodesToScore": 0},
    ],
    "nodeOrder": "upstream",
    "groupScheduling": {
        "evaluation": "doubleRun",
        "childOrder": "smallest",
        "preCheck": False,
        "extraPodPreemption": "anyFailed",
    },
}
FAIR: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "plugins": {
                "queueSort": {"enabled": [{"name": name} for name in ("Priority", "Gang", "DRF", "Proportion")]},
                "permit": {"disabled": [{"name": "*"}]},
            },
            "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}],
        }
    ],
}
# --- traces ---------------------------------------------------------------------------------------------------------

TRACE: list[dict[str, Any]] = [
    HEADER | {"start": "2026-01-01T00:00:00Z", "feature_gates": {"CompositePodGroup": True}},
    add(0, node("n1")),
    add(0, composite("root", 1)),
    add(0.5, group("g", 2, "root")),
    add(1, pod("g-0", in_group="g", duration="3s")),
    add(1, pod("g-1", in_group="g", duration="4s")),
    add(2, pod("plain", duration="1m")),
    update(3, pod("plain", duration="2m")),
    update(4, node("n1", "8")),
    delete(5, "Pod", "plain"),
    delete(6, "PodGroup", "g"),
]
ROWS = [PHILLY, "0,100,8,a", "1.5,10,12,b", "3,1e2,1,a", "9,7,16,c"]

# --- recorded scenarios ---------------------------------------------------------------------------------------------

_RECORDED = ROOT / "tests" / "conformance"
_NAMES = ("plain-pod-gate", "node-affinity-preferred", "group-parent-never-arrives", "walkthrough", "mixed-sizes")
SCENARIOS: list[Any] = [
    *(json.loads((_RECORDED / "kube" / "cases" / f"{name}.json").read_text()) for name in _NAMES),
    *(
        {**file, "cases": file["cases"][:2]}
        for file in (
            json.loads((_RECORDED / "node-plugins" / "cases" / f"{name}.json").read_text())
            for name in ("node-affinity", "pod-topology-spread", "node-resources-fit")
        )
    ),
]
