"""Request vectors of pods (spec node-plugins.md §3.3-3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.objects import Condition, Pod, PodStatus
from gangsched_framework.pod_requests import (
    amounts_of_pod,
    containers_need,
    is_scalar,
    requests_of_assigned,
    requests_of_spec,
    resources_from_amounts,
)
from gangsched_framework.pod_spec import Container, PodSpec
from gangsched_framework.quantity import parse_amount, round_away
from gangsched_framework.resources import PodRequests, Resources, StatusAmounts

MI = 2**20


def amounts(**texts: str) -> dict[str, int]:
    names = {"gpu": "nvidia.com/gpu", "storage": "ephemeral-storage", "huge": "hugepages-2Mi"}
    return {names.get(name, name): parse_amount(text) for name, text in texts.items()}


def container(name: str = "c", **texts: str) -> Container:
    return Container(name, requests=amounts(**texts))


def sidecar(**texts: str) -> Container:
    return Container("side", requests=amounts(**texts), restart_policy="Always")


@frozen
class Case:
    name: str
    spec: PodSpec
    cpu: int = 0
    memory: int = 0
    storage: int = 0
    scalars: dict[str, int] = field(factory=dict)
    nonzero: tuple[int, int] = (100, 200 * MI)
    score: tuple[int, int] | None = None
    """Differs from ``nonzero`` only with pod-level requests."""


CASES = [
    Case("no container at all", PodSpec(), nonzero=(0, 0)),
    Case("a container without requests counts defaults in NonZero", PodSpec((container(),))),
    Case(
        "cpu is rounded up to milli and memory to bytes",
        PodSpec((container(cpu="1n", memory="1500m"),)),
        cpu=1,
        memory=2,
        nonzero=(1, 2),
    ),
    Case(
        "sums are rounded once: two containers of 500u make 1m",
        PodSpec((container(cpu="500u"), container(cpu="500u"))),
        cpu=1,
        nonzero=(1, 400 * MI),
    ),
    Case(
        "each container that names no cpu adds 100m to NonZero",
        PodSpec((container(cpu="1"), container(memory="1Mi"))),
        cpu=1000,
        memory=MI,
        nonzero=(1100, 201 * MI),
    ),
    Case("an explicit zero stays zero", PodSpec((container(cpu="0", memory="0"),)), nonzero=(0, 0)),
    Case(
        "an explicit zero of a scalar stays in the map",
        PodSpec((container(cpu="1", memory="1Mi", gpu="0"),)),
        cpu=1000,
        memory=MI,
        scalars={"nvidia.com/gpu": 0},
        nonzero=(1000, MI),
    ),
    Case(
        "scalars and storage are summed, unknown names and pods are ignored",
        PodSpec((container(gpu="1", storage="1Gi", huge="2Mi", foo="3", pods="7"), container(gpu="2"))),
        storage=2**30,
        scalars={"nvidia.com/gpu": 3, "hugepages-2Mi": 2 * MI},
        nonzero=(200, 400 * MI),
    ),
    Case(
        "an ordinary init container raises the need to its own",
        PodSpec((container(cpu="1", memory="1Mi"),), (container(cpu="3", memory="0"),)),
        cpu=3000,
        memory=MI,
        nonzero=(3000, MI),
    ),
    Case(
        "a defaulted init container can raise NonZero alone",
        PodSpec((container(cpu="1m", memory="1Mi"),), (container(),)),
        cpu=1,
        memory=MI,
        nonzero=(100, 200 * MI),
    ),
    Case(
        "a sidecar runs beside the containers",
        PodSpec((container(cpu="1", memory="1Mi"),), (sidecar(cpu="2", memory="2Mi"),)),
        cpu=3000,
        memory=3 * MI,
        nonzero=(3000, 3 * MI),
    ),
    Case(
        "an init container counts the sidecars before it only",
        PodSpec(
            (container(cpu="1", memory="0"),),
            (sidecar(cpu="1", memory="0"), container(cpu="5", memory="0"), sidecar(cpu="2", memory="0")),
        ),
        cpu=6000,
        nonzero=(6000, 0),
    ),
    Case(
        "maxima are taken per resource",
        PodSpec((container(cpu="4", memory="1Mi"),), (container(cpu="1", memory="9Mi"),)),
        cpu=4000,
        memory=9 * MI,
        nonzero=(4000, 9 * MI),
    ),
    Case(
        "overhead comes on top, in NonZero over the defaults",
        PodSpec((container(cpu="1"),), overhead=amounts(cpu="250m", memory="10Mi", gpu="1")),
        cpu=1250,
        memory=10 * MI,
        scalars={"nvidia.com/gpu": 1},
        nonzero=(1250, 210 * MI),
    ),
    Case(
        "pod-level cpu replaces the containers' even when smaller; the score of the incoming pod does not see it",
        PodSpec((container(cpu="4", memory="1Mi"),), resources=amounts(cpu="1")),
        cpu=1000,
        memory=MI,
        nonzero=(1000, MI),
        score=(4000, MI),
    ),
    Case(
        "pod level: names other than cpu, memory and hugepages are ignored there",
        PodSpec((container(gpu="1"),), resources=amounts(gpu="4", storage="1Gi")),
        scalars={"nvidia.com/gpu": 1},
    ),
    Case(
        "pod level: a default is used only for what the finished result lacks, once for each container",
        PodSpec((container(), container()), resources=amounts(memory="1Gi")),
        memory=2**30,
        nonzero=(200, 2**30),
        score=(200, 400 * MI),
    ),
    Case(
        "pod level: overhead is an entry of the finished result",
        PodSpec((container(),), overhead=amounts(cpu="10m"), resources=amounts(memory="1Gi")),
        cpu=10,
        memory=2**30,
        nonzero=(10, 2**30),
        score=(110, 200 * MI),
    ),
    Case(
        "pod level: hugepages replace, overhead comes on top of the replacement",
        PodSpec(
            (container(cpu="1", memory="1Mi", huge="8Mi"),),
            overhead=amounts(cpu="500m"),
            resources=amounts(cpu="2", huge="4Mi"),
        ),
        cpu=2500,
        memory=MI,
        scalars={"hugepages-2Mi": 4 * MI},
        nonzero=(2500, MI),
        score=(1500, MI),
    ),
]


def nonzero(requests: PodRequests) -> tuple[int, int]:
    return requests.nonzero_milli_cpu, requests.nonzero_memory


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_requests_of_a_spec(case: Case) -> None:
    requests = requests_of_spec(case.spec)
    assert requests.requested == Resources(case.cpu, case.memory, case.storage, 0, case.scalars)
    assert nonzero(requests) == case.nonzero
    assert (requests.score_milli_cpu, requests.score_memory) == (case.score or case.nonzero)


def test_the_plain_vector_for_the_score_leaves_out_the_pod_level_but_not_the_overhead() -> None:
    spec = PodSpec((container(cpu="4", gpu="1"),), overhead=amounts(cpu="1"), resources=amounts(cpu="1"))
    assert requests_of_spec(spec).score_other == Resources(5000, scalars={"nvidia.com/gpu": 1})


def test_amounts_by_name_are_exact_and_keep_names_that_no_vector_has() -> None:
    spec = PodSpec((container(cpu="1n", foo="1"),), overhead=amounts(cpu="2n"), resources=amounts(memory="1"))
    assert amounts_of_pod(resized(spec, {})) == {"cpu": 3, "foo": 10**9, "memory": 10**9}
    shown = resized(spec, {"c": StatusAmounts(amounts(cpu="4n"), amounts(bar="1"))})
    assert amounts_of_pod(shown) == {"cpu": 6, "foo": 10**9, "bar": 10**9, "memory": 10**9}
    assert containers_need(spec) == {"cpu": 1, "foo": 10**9}
    assert amounts_of_pod(resized(PodSpec(), {})) == {}


def resized(spec: PodSpec, allocated: Mapping[str, Mapping[str, int] | StatusAmounts], reason: str = "") -> Pod:
    """An assigned pod; plain amounts are allocated ones."""
    shown = {name: a if isinstance(a, StatusAmounts) else StatusAmounts(a) for name, a in allocated.items()}
    conditions = (Condition("PodResizePending", "True", reason),) if reason else ()
    return Pod("default", "p", "u", spec, status=PodStatus(allocated=shown, conditions=conditions))


def test_an_assigned_pod_counts_the_larger_of_spec_and_status_per_resource() -> None:
    spec = PodSpec((container("a", cpu="1", memory="4Mi"), container("b", cpu="1", memory="1Mi")))
    usage = resized(spec, {"a": amounts(cpu="3", memory="2Mi", gpu="1")}).usage
    assert usage.requested == Resources(4000, 5 * MI, scalars={"nvidia.com/gpu": 1})
    assert nonzero(usage) == (4000, 5 * MI)
    running = resized(spec, {"a": StatusAmounts(amounts(cpu="1"), amounts(cpu="2"))}).usage
    assert running.requested == Resources(3000, 5 * MI)


def test_what_moves_between_the_containers_of_an_assigned_pod_counts_once() -> None:
    spec = PodSpec((container("a", cpu="3", memory="1Mi"), container("b", cpu="1", memory="1Mi")))
    status = {"a": amounts(cpu="1", memory="1Mi"), "b": amounts(cpu="3", memory="1Mi")}
    assert resized(spec, status).usage.requested == Resources(4000, 2 * MI)


def test_the_defaults_stand_in_for_what_spec_and_status_lack_each() -> None:
    spec = PodSpec((Container("a"), container("b", memory="1Mi")))
    usage = resized(spec, {"a": amounts(cpu="30m"), "b": amounts(cpu="1")}).usage
    assert usage.requested == Resources(1030, MI)
    assert nonzero(usage) == (1030, 400 * MI)
    assert nonzero(resized(PodSpec((Container("a"),)), {"a": amounts(cpu="30m", memory="1Mi")}).usage) == (
        100,
        200 * MI,
    )


def test_an_infeasible_resize_leaves_the_spec_of_every_container_out() -> None:
    spec = PodSpec((container("a", cpu="4", memory="4Mi"), container("b", cpu="2")))
    allocated = {"a": amounts(cpu="1", memory="1Mi")}
    infeasible = resized(spec, allocated, "Infeasible").usage
    assert infeasible.requested == Resources(1000, MI)
    assert nonzero(infeasible) == (1100, 201 * MI)
    assert resized(spec, allocated, "Deferred").usage.requested == Resources(6000, 4 * MI)
    silent = resized(spec, {"": StatusAmounts()}, "Infeasible").usage
    assert (silent.requested, nonzero(silent)) == (Resources(), (200, 400 * MI))


def test_an_assigned_pod_counts_the_larger_of_spec_and_status_for_itself() -> None:
    spec = PodSpec((container("a", cpu="1", memory="1Mi"),), resources=amounts(cpu="2"))
    assert resized(spec, {"": amounts(cpu="3", gpu="1")}).usage.requested == Resources(3000, MI)
    assert resized(spec, {"": amounts(cpu="1")}).usage.requested == Resources(2000, MI)
    assert resized(spec, {"": amounts(cpu="1"), "a": amounts()}, "Infeasible").usage.requested == Resources(1000)


def test_amounts_of_the_pod_in_its_status_alone_are_totals_beside_that_of_the_spec() -> None:
    spec = PodSpec((container("a", cpu="1", memory="1Mi"), container("b", memory="1Mi")))
    own = StatusAmounts(amounts(cpu="500m"), amounts(memory="3Mi"))
    status = {"": own, "a": StatusAmounts(amounts(cpu="9"))}
    usage = resized(spec, status).usage
    assert usage.requested == Resources(1000, 3 * MI)
    assert nonzero(usage) == (1100, 3 * MI)
    infeasible = resized(spec, status, "Infeasible").usage
    assert infeasible.requested == Resources(500, 3 * MI)
    assert nonzero(infeasible) == (500, 3 * MI)


def test_the_incoming_pod_uses_its_spec_only_and_a_pod_without_status_amounts_uses_it_as_well() -> None:
    spec = PodSpec((container("a", cpu="1"),))
    pod = resized(spec, {"a": amounts(cpu="3")})
    assert pod.incoming is spec.requests
    assert pod.incoming.requested.milli_cpu == 1000
    assert resized(spec, {}).usage is spec.requests
    assert requests_of_assigned(resized(spec, {})) == spec.requests


@pytest.mark.parametrize(
    "name, want",
    [
        ("nvidia.com/gpu", True),
        ("example.com/a.b_c-D", True),
        ("hugepages-2Mi", True),
        ("attachable-volumes-csi-x", True),
        ("kubernetes.io/batch", True),
        ("requests.kubernetes.io/foo", True),
        ("storage", False),
        ("foo", False),
        ("requests.nvidia.com/gpu", False),
        ("nvidia.com/", False),
        ("/gpu", False),
        ("NVIDIA.com/gpu", False),
        ("a.com/b/c", False),
        ("a.com/-b", False),
        (f"a.com/{'b' * 63}", True),
        (f"a.com/{'b' * 64}", False),
        (f"{'a' * 60}.{'a' * 60}.{'a' * 60}.{'a' * 61}/b", True),
        (f"{'a' * 60}.{'a' * 60}.{'a' * 60}.{'a' * 62}/b", False),
    ],
)
def test_which_names_count_beside_the_fixed_resources(name: str, want: bool) -> None:
    assert is_scalar(name) is want


def test_a_node_vector_has_pods_and_ignores_unknown_names() -> None:
    given_amounts = amounts(cpu="1500m", memory="1Gi", storage="2Gi", pods="110", gpu="8", foo="1")
    assert resources_from_amounts(given_amounts) == Resources(1500, 2**30, 2**31, 110, {"nvidia.com/gpu": 8})


containers = st.builds(
    lambda cpu, memory: Container("c", requests={k: v for k, v in (("cpu", cpu), ("memory", memory)) if v is not None}),
    st.none() | st.integers(0, 10**11),
    st.none() | st.integers(0, 10**18),
)


@given(st.lists(containers, max_size=4), st.lists(st.tuples(containers, st.booleans()), max_size=4))
def test_the_need_is_the_peak_of_the_start_up_sequence(
    running: list[Container], inits: list[tuple[Container, bool]]
) -> None:
    """An independent reading: play the start-up, and note what runs at the same time."""
    for resource, unit in (("cpu", 10**6), ("memory", 10**9)):
        beside = peak = 0
        for init, always in inits:
            need = init.requests.get(resource, 0)
            peak = max(peak, beside + need)
            beside += need if always else 0
        peak = max(peak, beside + sum(c.requests.get(resource, 0) for c in running))
        spec = PodSpec(
            tuple(running),
            tuple(
                Container("i", requests=c.requests, restart_policy="Always" if always else "") for c, always in inits
            ),
        )
        assert requests_of_spec(spec).requested.get(resource) == round_away(peak, unit)
