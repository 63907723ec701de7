"""A ``bind_call`` that raises, or answers with neither None nor text: no pod is lost, and the caller hears of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from gangsched import Bind, Engine
from gangsched_framework.errors import GangschedError
from gangsched_framework.testing import make_node, make_pod, make_pod_group


def _engine(bind_call: Callable[[Bind], Any]) -> Engine:
    """A gang of four for a node with room for it, and a pod too large for every node."""
    engine = Engine()
    engine.host.bind_call = bind_call
    engine.apply(make_node("n1").capacity(cpu=4, pods=110).obj(), make_pod_group("g").min_count(2).obj())
    engine.apply(*(make_pod(f"p{n}").requests(cpu=1 if n < 4 else 9).in_group("g").obj() for n in range(5)))
    return engine


def _raising(problem: BaseException, at: str) -> Callable[[Bind], None]:
    def call(bind: Bind) -> None:
        asked.append(bind.pod)
        if bind.pod == f"default/{at}":
            raise problem

    asked: list[str] = []
    return call


PROBLEMS = {
    "an error": (RuntimeError("lost the server"), "bind_call raised RuntimeError: lost the server"),
    "an interrupt": (KeyboardInterrupt(), "bind_call raised KeyboardInterrupt"),
}


@pytest.mark.parametrize("problem, text", PROBLEMS.values(), ids=PROBLEMS)
def test_the_pod_that_raised_and_those_not_asked_yet_fail_and_the_rest_is_carried_out(
    problem: BaseException, text: str
) -> None:
    engine = _engine(_raising(problem, "p1"))
    with pytest.raises(type(problem)) as raised:
        engine.run()
    assert raised.value is problem
    assert engine.bindings == {"default/p0": "n1"}
    assert engine.core.binding == ()
    shown = {key: pod.status.conditions[-1].message for key, pod in engine.core.world.pods.items() if not pod.node_name}
    assert shown.pop("default/p4").startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert shown == {f"default/p{n}": f'running Bind plugin "DefaultBinder": {text}' for n in (1, 2, 3)}
    engine.core._check()


def test_they_are_bound_when_it_works_again() -> None:
    engine = _engine(_raising(RuntimeError("lost"), "p1"))
    with pytest.raises(RuntimeError):
        engine.run()
    engine.host.bind_call = lambda bind: None
    engine.run()
    assert engine.bindings == {f"default/p{n}": "n1" for n in range(4)}


def test_it_is_asked_again_in_the_next_cycle_and_no_more_in_this_one() -> None:
    asked: list[str] = []

    def call(bind: Bind) -> None:
        asked.append(bind.pod.removeprefix("default/"))
        if len(asked) == 2:
            raise RuntimeError("once")

    engine = _engine(call)
    with pytest.raises(RuntimeError):
        engine.step()
    engine.run()
    assert asked == ["p0", "p1", "p1", "p2", "p3"]
    assert len(engine.bindings) == 4


@pytest.mark.parametrize("answer", [True, False, 5, ("n1", None)])
def test_an_answer_that_is_neither_none_nor_text_is_refused_by_name(answer: object) -> None:
    engine = _engine(lambda bind: answer)
    told = f"bind_call returned {type(answer).__name__}, allowed None (it is bound) or str (why it failed)"
    with pytest.raises(GangschedError) as refused:
        engine.run()
    assert str(refused.value) == told
    assert (engine.bindings, engine.core.binding) == ({}, ())
    engine.host.bind_call = lambda bind: None
    engine.run()
    assert len(engine.bindings) == 4


def test_a_message_is_a_failure_and_nothing_is_raised() -> None:
    engine = _engine(lambda bind: "" if bind.pod == "default/p1" else None)
    engine.run_ready(max_cycles=1)
    assert sorted(engine.bindings) == ["default/p0", "default/p2", "default/p3"]


def test_a_pod_replaced_while_it_is_bound_is_tried_like_any_new_one_and_ends_no_run() -> None:
    def call(bind: Bind) -> None:
        pod = engine.core.pod(bind.pod)
        if bind.pod == "default/first" and pod is not None and pod.uid != "another":
            engine.delete(pod)
            engine.apply(evolve(pod, uid="another"))

    engine = Engine()
    engine.host.bind_call = call
    first, second = (make_pod(name).requests(cpu=1).obj() for name in ("first", "second"))
    engine.apply(make_node("n1").capacity(cpu=4, pods=110).obj(), first, second)
    engine.run()
    assert engine.bindings == {"default/first": "n1", "default/second": "n1"}
    engine.core._check()
