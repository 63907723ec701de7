"""What the host writes to pods: equal writes share one object, others do not (conformance README §3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from gangsched import Engine
from gangsched.engine.decisions import Nominate, RecordEvent
from gangsched.engine.scheduler import Scheduler
from gangsched_framework.objects import Condition, Pod, PodStatus
from gangsched_framework.testing import make_node, make_pod, make_pod_group

WAITING = PodStatus()


def _engine(*pods: Pod, gang: str = "g") -> Engine:
    engine = Engine()
    engine.apply(make_node("n1").capacity(cpu=4, memory="8Gi", pods=110).obj())
    engine.apply(make_pod_group(gang).min_count(2).obj(), *pods)
    return engine


def _status(engine: Engine, name: str) -> PodStatus:
    pod = engine.core.pod(f"default/{name}")
    assert pod is not None
    return pod.status


def _shown(engine: Engine, name: str) -> Condition:
    return next(c for c in _status(engine, name).conditions if c.type == "PodScheduled")


def _member(name: str, cpu: int, gang: str = "g") -> Pod:
    return make_pod(name).requests(cpu=cpu).in_group(gang).obj()


def test_pods_that_fail_alike_share_their_new_status() -> None:
    engine = _engine(*(_member(f"p{n}", 9) for n in range(4)))
    engine.step()
    *tried, untried = (_status(engine, f"p{n}") for n in range(4))
    assert len({id(status) for status in tried}) == 1
    assert tried[0].conditions != untried.conditions


def test_pods_of_one_cycle_that_fail_for_other_reasons_show_their_own() -> None:
    engine = _engine(_member("fits", 1), _member("large", 9))
    report = engine.step()
    assert report is not None
    messages = {key.split("/")[1]: each.status.message for key, each in report.pods.items() if each.status is not None}
    assert messages["fits"] != messages["large"]
    assert {name: _shown(engine, name).message for name in messages} == messages


def test_a_pod_that_shows_another_condition_keeps_the_rest_of_its_status() -> None:
    told = make_pod("told").requests(cpu=9).in_group("g").condition("Ready", "False").started(7).obj()
    engine = _engine(_member("plain", 9), told, _member("zzz", 9))
    engine.step()
    shown = {name: _status(engine, name) for name in ("plain", "told", "zzz")}
    assert {name: ([c.type for c in status.conditions], status.start_time) for name, status in shown.items()} == {
        "plain": (["PodScheduled"], None),
        "told": (["Ready", "PodScheduled"], 7),
        "zzz": (["PodScheduled"], None),
    }


def test_a_pod_refused_before_keeps_the_time_since_when_it_is_refused() -> None:
    engine = _engine(_member("a", 9), _member("b", 9))
    engine.step()
    engine.apply(_member("c", 9), _member("d", 9))
    engine.advance(5)
    report = engine.step()
    assert report is not None
    messages = [each.status.message for each in report.pods.values() if each.status is not None]
    assert len(set(messages[:3])) == 1
    assert [_shown(engine, name).message for name in "abcd"] == messages
    assert [_shown(engine, name).last_transition_time for name in "abcd"] == [0, 0, 5_000_000_000, 5_000_000_000]


def test_equal_trees_refused_at_other_times_show_their_own_time() -> None:
    engine = _engine(_member("a", 9), _member("b", 9))
    engine.step()
    engine.advance(3)
    engine.apply(make_pod_group("h").min_count(2).obj(), _member("c", 9, "h"), _member("d", 9, "h"))
    while engine.step() is not None:
        pass
    assert [_shown(engine, name).last_transition_time for name in "abcd"] == [0, 0, 3_000_000_000, 3_000_000_000]


def test_pods_bound_at_other_times_or_with_other_conditions_show_their_own() -> None:
    engine = _engine(
        make_pod("a").requests(cpu=1).obj(), make_pod("b").requests(cpu=1).condition("Ready", "True").obj()
    )
    engine.run_ready()
    engine.advance(2)
    engine.apply(make_pod("c").requests(cpu=1).obj())
    engine.run_ready()
    assert [_shown(engine, name).last_transition_time for name in "abc"] == [0, 0, 2_000_000_000]
    assert [len(_status(engine, name).conditions) for name in "abc"] == [1, 2, 1]


def test_plain_pods_of_one_status_share_what_is_bound_now_and_no_earlier() -> None:
    engine = _engine()
    for seconds, name in ((0, "a"), (0, "b"), (2, "c")):
        engine.advance(seconds)
        engine.apply(evolve(make_pod(name).requests(cpu=1).obj(), status=WAITING))
        engine.run_ready()
    assert [_shown(engine, name).last_transition_time for name in "abc"] == [0, 0, 2_000_000_000]
    assert _status(engine, "a") is _status(engine, "b")


def _gone(core: Scheduler, pod: Pod) -> None:
    core.delete(pod)


def _replaced(core: Scheduler, pod: Pod) -> None:
    core.delete(pod)
    core.add(evolve(pod, uid="another"))


def _left_alone(core: Scheduler, pod: Pod) -> None:
    pass


BOUND_MEANWHILE: dict[str, tuple[Callable[[Scheduler, Pod], None], dict[str, str]]] = {
    "a pod as it was decided about is bound": (_left_alone, {"default/p": "n1"}),
    "one that has gone is bound nowhere": (_gone, {}),
    "nor is one that took its name": (_replaced, {}),
}


@pytest.mark.parametrize("happens, bindings", BOUND_MEANWHILE.values(), ids=BOUND_MEANWHILE)
def test_a_binding_is_of_the_pod_it_was_decided_for(
    happens: Callable[[Scheduler, Pod], None], bindings: dict[str, str]
) -> None:
    engine, pod = _engine(), make_pod("p").requests(cpu=1).obj()
    engine.apply(pod)
    report = engine.core.step()
    assert report is not None
    happens(engine.core, pod)
    said = engine.host.carry_out(report.decisions)
    assert any(each.reason == "Scheduled" for each in said if isinstance(each, RecordEvent)) == bool(bindings)
    assert engine.bindings == bindings
    assert engine.core.binding == ()
    engine.core._check()


def test_nominations_are_written_each_to_the_status_of_its_pod() -> None:
    told = make_pod("c").condition("Ready", "True").obj()
    engine = _engine(make_pod("a").obj(), make_pod("b").obj(), told)
    nodes = {"a": "n1", "b": "n2", "c": "n2"}
    engine.host.carry_out([Nominate(f"default/{name}", node) for name, node in nodes.items()])
    assert {name: _status(engine, name).nominated_node_name for name in nodes} == nodes
    assert [len(_status(engine, name).conditions) for name in nodes] == [0, 0, 1]
