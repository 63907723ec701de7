"""What a watched node must tell: refusals that may stand, and nodes that would fare otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangsched.config import default_config
from gangsched.engine.column_watch import ColumnWatch
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.signature_column import SignatureColumn
from gangsched_framework.testing import make_node, make_pod
from gangsched_plugins.default_registry import default_registry

GPU = "nvidia.com/gpu"
WATCHED = make_pod("watched").requests(**{GPU: 2}).obj()

Change = Callable[[Scheduler], None]


def _core() -> Scheduler:
    return Scheduler(default_config().profiles, default_registry())


def _run(name: str, node: str, **amounts: str | int) -> Change:
    pod = make_pod(name).requests(**amounts).obj().bound_to(node)
    return lambda core: core.add(pod)


CHANGES: dict[str, tuple[Change, bool]] = {
    "a pod takes what no score looks at, where the watched one fits": (
        _run("a", "n1", cpu=0, memory=0, **{GPU: 1}),
        True,
    ),
    "a pod that asks for nothing takes a seat where the watched one fits": (_run("a", "n1", cpu=0, memory=0), True),
    "a pod comes where the watched one has no room anyway": (_run("a", "n2", cpu="1"), False),
    "the last room for the watched one goes": (_run("a", "n1", **{GPU: 7}), True),
}


@pytest.mark.parametrize(("change", "noticed"), CHANGES.values(), ids=CHANGES)
def test_a_node_counts_as_changed_when(change: Change, noticed: bool) -> None:
    core = _core()
    core.add(make_node("n1").capacity(cpu=8, pods=110, **{GPU: 8}).obj())
    core.add(make_node("n2").capacity(cpu=8, pods=110, **{GPU: 1}).obj())
    core.snapshot.refresh()
    assert core.columns is not None
    column = core.columns.of(core.frameworks["default-scheduler"], WATCHED)
    assert isinstance(column, SignatureColumn)
    watch = ColumnWatch(column, core.world.table)
    before = watch.changes()

    change(core)

    assert (watch.changes() > before) == noticed


def test_room_that_is_promised_is_another_world() -> None:
    core = _core()
    core.add(make_node("n1").capacity(cpu=8, pods=110).obj())
    pod = make_pod("p").obj()
    core.add(pod)
    before = core.world.version
    core.nominator.add(pod, "n1")
    assert core.world.version > before
