"""ImageLocality: spec node-plugins.md §7.8, rows 125-134."""

from __future__ import annotations

from operator import attrgetter

import pytest
from attrs import evolve

from gangsched_framework.cycle_state import CycleState
from gangsched_framework.objects import Pod
from gangsched_framework.pod_spec import Container
from gangsched_framework.testing import FakeHandle, PodBuilder, make_pod, make_snapshot
from gangsched_plugins.image_locality import ImageLocality, with_tag
from tests.plugins.judge import Case, check, roomy


def runs(*images: str) -> PodBuilder:
    pod = make_pod("p")
    for image in images:
        pod = pod.container(image)
    return pod


def runs_after(init: str, image: str) -> Pod:
    pod = runs(image).obj()
    return evolve(pod, spec=evolve(pod.spec, init_containers=(Container("i", init),)))


def runs_with_volume(image: str, volume: str) -> Pod:
    pod = runs(image).obj()
    return evolve(pod, spec=evolve(pod.spec, image_volumes=(volume,)))


CASES = [
    Case(
        name="an image counts by the share of nodes that hold it",
        pod=runs("r.io/app:1"),
        nodes=[roomy("a").image("r.io/app:1", size="1000Mi"), roomy("b"), roomy("c")],
        want_scores={"a": 31, "b": 0, "c": 0},
    ),
    Case(
        name="1000 MiB per image is the most that counts",
        pod=runs("app:1"),
        nodes=[roomy("a").image("app:1", size="5000Mi")],
        want_scores={"a": 100},
    ),
    Case(
        name="two containers of one image count it twice",
        pod=runs("a:1", "a:1"),
        nodes=[roomy("n").image("a:1", size="400Mi"), roomy("m")],
        want_scores={"n": 19, "m": 0},
    ),
    Case(
        name="images of init containers count and raise the maximum",
        pod=runs_after("b:1", "a:1"),
        nodes=[roomy("n").image("b:1", size="300Mi"), roomy("m").image("a:1", size="300Mi")],
        want_scores={"n": 6, "m": 6},
    ),
    Case(
        name="an image volume is one more image",
        pod=runs_with_volume("a:1", "vol:1"),
        nodes=[roomy("n").image("vol:1", size="600Mi"), roomy("m")],
        want_scores={"n": 14, "m": 0},
    ),
    Case(
        name="no tag means latest on the pod's side only",
        pod=runs("app"),
        nodes=[roomy("a").image("app:latest", size="800Mi"), roomy("b").image("app", size="800Mi")],
        want_scores={"a": 38, "b": 0},
    ),
    Case(
        name="a digest matches literally",
        pod=runs("r.io/app@sha256:abc"),
        nodes=[roomy("a").image("r.io/app@sha256:abc", "r.io/app:1", size="800Mi"), roomy("b")],
        want_scores={"a": 38, "b": 0},
    ),
    Case(
        name="no registry is added",
        pod=runs("app:1"),
        nodes=[roomy("a").image("docker.io/library/app:1", size="800Mi"), roomy("b")],
        want_scores={"a": 0, "b": 0},
    ),
    Case(
        name="each name of an image has a spread of its own",
        pod=runs("a:1", "a:2"),
        nodes=[roomy("n").image("a:1", "a:2", size="700Mi"), roomy("m").image("a:1", size="700Mi")],
        want_scores={"n": 51, "m": 34},
    ),
    Case(
        name="the size of the first node that reported counts on all",
        pod=runs("a:1"),
        nodes=[roomy("n").image("a:1", size="900Mi"), roomy("m").image("a:1", size="300Mi")],
        want_scores={"n": 89, "m": 89},
    ),
    Case(
        name="23 MiB or less score 0",
        pod=runs("a:1"),
        nodes=[roomy("n").image("a:1", size="23Mi")],
        want_scores={"n": 0},
    ),
    Case(name="a pod without images scores 0", pod=make_pod("p"), nodes=[roomy("n")], want_scores={"n": 0}),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_scores(case: Case) -> None:
    check(ImageLocality, case)


def test_one_plugin_scores_pod_after_pod() -> None:
    snapshot = make_snapshot([roomy("n").image("a:1", size="1000Mi").obj()])
    plugin, node = ImageLocality({}, FakeHandle(snapshot)), snapshot.nodes[0]
    scores = [plugin.score(CycleState(), runs(image).obj(), node) for image in ("a:1", "b:1", "a:1")]
    assert scores == [100, 0, 100]


@pytest.mark.parametrize(
    "image, want",
    [
        ("app", "app:latest"),
        ("host:5000/app", "host:5000/app:latest"),
        ("host:5000/app:2", "host:5000/app:2"),
        ("r.io/app@sha256:abc", "r.io/app@sha256:abc"),
    ],
)
def test_tags(image: str, want: str) -> None:
    assert with_tag(image) == want
