"""Tentative amounts follow the steps of a cycle, whenever somebody asks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gangsched_framework.accounts import Accounts
from gangsched_framework.objects import QUEUE_NAME, Pod
from gangsched_framework.testing import make_node, make_pod, make_snapshot
from gangsched_framework.vectors import Vector, minus, plus

NODES = [make_node(name).capacity(cpu=8).obj() for name in ("n1", "n2")]
TENANTS = ("a", "b")


def pod_of(tenant: str, name: str, cpu: int) -> Pod:
    return make_pod(name).requests(cpu=cpu).annotation(QUEUE_NAME, tenant).obj()


WAITING = [pod_of(TENANTS[i % 2], f"w{i}", i + 1) for i in range(4)]
RUNNING = [pod_of(TENANTS[i % 2], f"r{i}", i + 1).bound_to("n1") for i in range(3)]
NOBODYS = make_pod("orphan").in_group("gone").obj()


@given(
    st.lists(st.sampled_from(("assume", "orphan", "remove", "rollback", "commit", "ask")), max_size=30), st.randoms()
)
def test_tentative_amounts_are_the_steps_that_stand(what: list[str], rng: object) -> None:
    snapshot = make_snapshot(NODES, RUNNING)
    steps = snapshot.follow()
    accounts = Accounts(snapshot.forest, steps)
    for pod in (*WAITING, *RUNNING, NOBODYS):
        accounts.see(pod, bool(pod.node_name))
    for each in what:
        stood = {pod.key for sign, pod, _, _ in steps if sign > 0}
        left = {pod.key for sign, pod, _, _ in steps if sign < 0}
        if each == "assume" and len(stood) < len(WAITING):
            snapshot.assume(next(pod for pod in WAITING if pod.key not in stood), "n2")
        elif each == "remove" and len(left) < len(RUNNING):
            snapshot.remove(next(pod for pod in RUNNING if pod.key not in left), "n1")
        elif each == "orphan" and NOBODYS.key not in stood:
            snapshot.assume(NOBODYS, "n2")
        elif each == "rollback":
            snapshot.rollback(rng.randint(0, snapshot.mark()))  # type: ignore[attr-defined]
        elif each == "commit" and not left:
            snapshot.commit()
            break  # the world's from now on: nothing may be taken back
        elif each == "ask":
            _check(accounts)
    _check(accounts)
    snapshot.rollback(0)
    accounts._check()


def _check(accounts: Accounts) -> None:
    for tenant in TENANTS:
        total: Vector = ()
        for sign, pod, _, _ in accounts.tentative._steps:
            if pod.annotations.get(QUEUE_NAME) == tenant:
                total = (plus if sign > 0 else minus)(total, accounts.vector(pod))
        assert not any(minus(total, accounts.tentative.of(tenant)))
