"""What breaks off half-way ends the engine: it says so at every further use. A host walks a cycle in one order only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gangsched import Engine, Scheduler
from gangsched.config import default_config
from gangsched.engine.cycle import Cycle
from gangsched.engine.explain import explain
from gangsched_framework.errors import GangschedError, PluginError
from gangsched_framework.events import Action, ClusterEvent, ClusterEventWithHint, Hint, Resource
from gangsched_framework.handle import Handle
from gangsched_framework.registry import Registry
from gangsched_framework.status import Status, unschedulable
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.default_registry import default_registry
from gangsched_plugins.node_resources_fit import NodeResourcesFit

NODE, POD = make_node("n1").capacity(cpu=4, pods=110).obj(), make_pod("p").requests(cpu=1).obj()


class Picky:
    """Fails where its class is told to: at a method, for pods of a name."""

    name = "Picky"
    at = ""

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None: ...

    def _fail(self, at: str) -> Status | None:
        if self.at == at:
            raise ValueError("lost")
        return None

    def pre_enqueue(self, pod: object) -> Status | None:
        return self._fail("pre_enqueue")

    def filter(self, state: object, pod: Any, node: object) -> Status | None:
        self._fail("filter")
        return unschedulable("no") if pod.name == "no" else None

    def reserve(self, state: object, pod: object, node_name: str) -> Status | None:
        return self._fail("reserve")

    def unreserve(self, state: object, pod: object, node_name: str) -> None: ...

    def post_bind(self, pod: object, node_name: str) -> None:
        self._fail("post_bind")

    def _hint(self, pod: object, old: object, new: object) -> Hint:
        self._fail("hint")
        return Hint.QUEUE

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(ClusterEvent(Resource.NODE, Action.ADD), self._hint)]


POINTS = ("preEnqueue", "filter", "reserve", "postBind")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine whose profile has ``Picky``; a node, and a pod that it has refused."""

    def registry() -> Registry:
        made = default_registry()
        made.register("Picky", Picky)
        return made

    monkeypatch.setattr("gangsched.api.plugin_registry", registry)
    plugins = {point: {"enabled": [{"name": "Picky"}]} for point in POINTS}
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    engine = Engine({**document, "profiles": [{"plugins": plugins}]})
    engine.apply(NODE, make_pod("no").obj())
    engine.run()
    return engine


def _try_a_pod(engine: Engine) -> None:
    engine.apply(POD)
    engine.run()


BROKEN: dict[str, tuple[str, Callable[[Engine], object]]] = {
    "a filter, in a cycle": ("filter", _try_a_pod),
    "a reservation, at submit": ("reserve", _try_a_pod),
    "a gate, when a pod appears": ("pre_enqueue", _try_a_pod),
    "a hint, when a node appears": ("hint", lambda engine: engine.apply(make_node("n2").obj())),
    "who hears of bindings": ("post_bind", _try_a_pod),
    "a filter that is asked for show": ("filter", lambda engine: engine.explain("no")),
}
USES: dict[str, Callable[[Engine], object]] = {
    "run": lambda engine: engine.run(),
    "step": lambda engine: engine.step(),
    "apply": lambda engine: engine.apply(POD),
    "delete": lambda engine: engine.delete(POD),
    "advance": lambda engine: engine.advance(1),
    "now": lambda engine: engine.now,
    "explain": lambda engine: engine.explain("no"),
    "queue_state": lambda engine: engine.queue_state(),
    "shares": lambda engine: engine.shares(),
    "the core": lambda engine: engine.core.pop(),
}


@pytest.mark.parametrize("at, use", BROKEN.values(), ids=BROKEN)
def test_a_plugin_that_breaks_its_contract_ends_the_engine(
    monkeypatch: pytest.MonkeyPatch, engine: Engine, at: str, use: Callable[[Engine], object]
) -> None:
    monkeypatch.setattr(Picky, "at", at)
    with pytest.raises(PluginError, match=f"^plugin Picky: {at} raised ValueError: lost ") as broken:
        use(engine)
    for again in USES.values():
        with pytest.raises(GangschedError) as refused:
            again(engine)
        assert str(refused.value) == f"the engine was broken off half-way by {broken.value}; make a new one"


@pytest.mark.parametrize("problem", [RuntimeError("a bug"), KeyboardInterrupt()], ids=["a bug", "an interrupt"])
def test_so_does_whatever_else_is_raised_inside_a_cycle(
    monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise problem

    engine = Engine()
    engine.apply(NODE, POD)
    monkeypatch.setattr(NodeResourcesFit, "columns", fail)
    with pytest.raises(type(problem)):
        engine.run()
    told = "RuntimeError: a bug" if str(problem) else "KeyboardInterrupt"
    with pytest.raises(GangschedError, match=f"^the engine was broken off half-way by {told}; make a new one$"):
        engine.run()
    assert engine.bindings == {}


# --- cycles in the hands of a host ------------------------------------------------------------------------------------


@pytest.fixture
def core() -> Scheduler:
    core = Scheduler(default_config().profiles, default_registry())
    for obj in (NODE, POD, make_pod("q").obj()):
        core.add(obj)
    return core


def _popped(core: Scheduler) -> Cycle:
    cycle = core.pop()
    assert cycle is not None
    return cycle


def _decided(core: Scheduler) -> Cycle:
    cycle = _popped(core)
    cycle.decide()
    return cycle


def _submitted(core: Scheduler) -> Cycle:
    cycle = _decided(core)
    cycle.submit()
    return cycle


MISUSES: dict[str, tuple[Callable[[Scheduler], object], str]] = {
    "decide twice": (
        lambda core: _decided(core).decide(),
        "decide: the cycle of pod/default/p is decided, allowed popped",
    ),
    "submit what is not decided": (
        lambda core: _popped(core).submit(),
        "submit: the cycle of pod/default/p is popped, allowed decided",
    ),
    "submit twice": (
        lambda core: _submitted(core).submit(),
        "submit: the cycle of pod/default/p is submitted, allowed decided",
    ),
    "decide what is submitted": (
        lambda core: _submitted(core).decide(),
        "decide: the cycle of pod/default/p is submitted, allowed popped",
    ),
    "pop while a cycle is popped": (
        lambda core: (_popped(core), core.pop()),
        "pop: the cycle of pod/default/p is popped, allowed when it is submitted",
    ),
    "step while a cycle is decided": (
        lambda core: (_decided(core), core.step()),
        "pop: the cycle of pod/default/p is decided, allowed when it is submitted",
    ),
    "rehearse another while a cycle is decided, whose pod stands in the snapshot": (
        lambda core: (_decided(core), core.rehearse(make_pod("q").obj().entity_key)),
        "rehearse: the cycle of pod/default/p is decided, allowed when it is submitted",
    ),
    "explain another while a cycle is decided": (
        lambda core: (_decided(core), explain(core, core.world.pods["default/q"])),
        "explain: the cycle of pod/default/p is decided, allowed when it is submitted",
    ),
}


@pytest.mark.parametrize("use, want", MISUSES.values(), ids=MISUSES)
def test_a_cycle_goes_one_way_once_and_alone(core: Scheduler, use: Callable[[Scheduler], object], want: str) -> None:
    with pytest.raises(GangschedError) as refused:
        use(core)
    assert str(refused.value) == want
    assert core.now == 0  # and the core goes on


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda core, cycle: cycle.decide(), id="decide again"),
        pytest.param(lambda core, cycle: core.rehearse(make_pod("q").obj().entity_key), id="rehearse another"),
        pytest.param(lambda core, cycle: explain(core, core.world.pods["default/q"]), id="explain another"),
    ],
)
def test_a_refused_call_leaves_the_cycle_as_it_was(core: Scheduler, call: Callable[[Scheduler, Cycle], object]) -> None:
    cycle = _decided(core)
    with pytest.raises(GangschedError):
        call(core, cycle)
    assert [bind.node for bind in cycle.submit().pods.values()] == ["n1"]
    assert _submitted(core).entity.key == "pod/default/q"
    core._check()


def test_what_breaks_off_a_cycle_of_a_host_ends_the_core(monkeypatch: pytest.MonkeyPatch, core: Scheduler) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(NodeResourcesFit, "columns", fail)
    cycle = _popped(core)
    with pytest.raises(RuntimeError):
        cycle.decide()
    with pytest.raises(GangschedError, match="submit: the cycle of pod/default/p is broken off, allowed decided"):
        cycle.submit()
    with pytest.raises(GangschedError, match="the engine was broken off half-way by RuntimeError: a bug; make a new"):
        core.pop()
