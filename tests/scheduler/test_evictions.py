"""An ``evict`` of somebody else's: the pod stays until that deletes it, and no run waits for it for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched import Engine, Evict
from gangsched_framework.testing import make_node, make_pod, make_pod_group


def _engine(evict: Callable[[Evict], object], *, gang: bool) -> Engine:
    """A node full of two pods, and a pod, or a gang of two, for which both must go."""
    engine = Engine()
    engine.apply(make_node("n1").capacity(cpu=4, pods=110).obj())
    engine.apply(*(make_pod(f"low-{n}").requests(cpu=2).obj() for n in range(2)))
    engine.run()
    engine.host.evict = evict  # type: ignore[assignment]
    if gang:
        engine.apply(make_pod_group("g").min_count(2).priority(9).obj())
        engine.apply(*(make_pod(f"high-{n}").requests(cpu=2).priority(9).in_group("g").obj() for n in range(2)))
    else:
        engine.apply(make_pod("high").requests(cpu=4).priority(9).obj())
    return engine


KINDS = pytest.mark.parametrize("gang", [False, True], ids=["a pod", "a gang"])


@KINDS
def test_a_run_ends_though_the_victims_stay(gang: bool) -> None:
    told: list[str] = []
    engine = _engine(lambda evict: told.append(evict.pod), gang=gang)
    reports = engine.run(max_cycles=50)
    assert len(reports) == 2  # the second finds that nothing has changed
    assert sorted(told) == ["default/low-0", "default/low-0", "default/low-1", "default/low-1"]
    assert sorted(engine.bindings) == ["default/low-0", "default/low-1"]
    engine.core._check()


@KINDS
def test_it_goes_on_when_they_are_deleted(gang: bool) -> None:
    told: dict[str, Evict] = {}
    engine = _engine(lambda evict: told.setdefault(evict.pod, evict), gang=gang)
    engine.run()
    for key in told:
        pod = engine.core.pod(key)
        assert pod is not None
        engine.delete(pod)
    engine.run()
    assert all(key.startswith("default/high") for key in engine.bindings)
    assert len(engine.bindings) == (2 if gang else 1)


@KINDS
def test_victims_that_are_marked_are_waited_for_and_not_chosen_again(gang: bool) -> None:
    told: list[str] = []

    def mark(evict: Evict) -> None:
        told.append(evict.pod)
        pod = engine.core.pod(evict.pod)
        assert pod is not None
        engine.core.update(evolve(pod, deletion_timestamp=engine.now))

    engine = _engine(mark, gang=gang)
    engine.run(max_cycles=50)
    assert sorted(told) == ["default/low-0", "default/low-1"]


@KINDS
def test_an_evict_that_raises_is_heard_of_when_the_rest_is_carried_out(gang: bool) -> None:
    told: list[str] = []

    def fail(evict: Evict) -> None:
        told.append(evict.pod)
        raise RuntimeError("lost")

    engine = _engine(fail, gang=gang)
    with pytest.raises(RuntimeError, match="lost"):
        engine.run()
    assert len(told) == 1  # who was not told of yet stays, too
    shown = [pod.status for key, pod in engine.core.world.pods.items() if "high" in key]
    assert all(status.nominated_node_name == "n1" for status in shown)
    engine.host.evict = engine.host.delete_victim
    engine.run()
    assert len(engine.bindings) == len(shown)
    engine.core._check()
