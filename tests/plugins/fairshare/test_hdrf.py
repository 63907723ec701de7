"""Hierarchical DRF: every worked example of spec fair-share.md §3.6, the edge cases of §9.3, incremental = anew."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsched_plugins.fairshare.amounts import Amounts
from gangsched_plugins.fairshare.hdrf import HdrfNode, HdrfTree, Mode
from gangsched_plugins.fairshare.hdrf_order import compare_paths, parse_hierarchy, path_key
from gangsched_plugins.fairshare.victims import Reclaim, hdrf_victims
from tests.plugins.fairshare.forest import NAMES, SharedTree, TreeJob, vector
from tests.plugins.fairshare.values import amounts

CPU, MEM, GPU = amounts("1c"), amounts(0, "1G"), amounts(gpu=1)


def of(node: HdrfNode) -> tuple[Amounts, float, bool]:
    held = dict(zip(NAMES, node.allocated, strict=True))
    scalars = {name: held[name] for name in ("gpu", "pods") if held[name]}
    return Amounts(held["cpu"], held["memory"], scalars), node.share, node.saturated


def test_he1_siblings_are_scaled_down_to_the_least_share_among_them() -> None:
    shared = SharedTree(
        amounts("10c", "10G"),
        [TreeJob("x", "root/p", "1/1", CPU, 9, 4), TreeJob("y", "root/p", "1/1", MEM, 9, 6)],
    )
    allocated, share, saturated = of(shared.node("root/p"))
    assert (allocated.cpu, share, saturated) == (4000, 0.4, False)
    assert allocated.memory == pytest.approx(4e9)


def test_he2_a_saturated_child_is_added_unscaled() -> None:
    shared = SharedTree(
        amounts("10c", "10G"),
        [
            TreeJob("x", "root/p", "1/1", CPU, 4, 4),
            TreeJob("y", "root/p", "1/1", MEM, 9, 6),
            TreeJob("z", "root/p", "1/1", CPU, 9, 2),
        ],
    )
    allocated, share, _ = of(shared.node("root/p"))
    assert (allocated.cpu, share) == (6000, 0.6)
    assert allocated.memory == pytest.approx(2e9)


def test_he3_a_parent_of_a_job_that_holds_nothing() -> None:
    shared = SharedTree(amounts("10c"), [TreeJob("x", "root/p", "1/1", CPU, 3)])
    assert of(shared.node("root/p")) == (amounts(0), 0, False)


def test_he4_the_figure_of_the_design_document() -> None:
    shared = SharedTree(
        amounts("20c", gpu=20),
        [TreeJob("n21", "root/n2", "1/1", CPU, 19, 18), TreeJob("n22", "root/n2", "1/1", GPU, 19, 9)],
    )
    assert of(shared.node("root/n2")) == (amounts("9c", gpu=9), 0.45, False)


@frozen
class Served:
    """Jobs served until nothing fits; ``want``: tasks each got."""

    name: str
    total: Amounts
    jobs: list[TreeJob]
    want: dict[str, int]
    mode: Mode = "upstream"


def he6(order: tuple[int, ...]) -> list[TreeJob]:
    jobs = [
        TreeJob("pg1", "root/pg1", "100/25", CPU, 30),
        TreeJob("pg2", "root/pg2", "100/25", CPU, 30),
        TreeJob("pg31", "root/pg3/pg31", "100/25/50", CPU, 30),
        TreeJob("pg32", "root/pg3/pg32", "100/25/50", MEM, 30),
        TreeJob("pg4", "root/pg4", "100/25", MEM, 30),
    ]
    return [evolve(job, created=age) for job, age in zip(jobs, order, strict=True)]


def he9(dev: str = "1/1/2", prod: str = "1/1/8") -> list[TreeJob]:
    return [
        TreeJob("dev", "root/eng/dev", dev, CPU, 30),
        TreeJob("prod", "root/eng/prod", prod, CPU, 30),
        TreeJob("sci", "root/sci", "1/1", CPU, 30),
    ]


HE5 = [
    TreeJob("pg1", "root/sci", "100/50", amounts("1c", "1G", pods=1), 10),
    TreeJob("pg21", "root/eng/dev", "100/50/50", amounts("1c", 0, pods=1), 10),
    TreeJob("pg22", "root/eng/prod", "100/50/50", amounts(0, "1G", pods=1), 10),
]
HE11 = [
    TreeJob("n1", "root/n1", "1/1", GPU, 10),
    TreeJob("n21", "root/n2/n21", "1/1/1", CPU, 12, 10),
    TreeJob("n22", "root/n2/n22", "1/1/1", GPU, 10),
]
SERVED = [
    Served("HE5: rescaling", amounts("10c", "10G", pods=50), HE5, {"pg1": 5, "pg21": 5, "pg22": 5}),
    *(
        Served(
            f"HE6: blocking, ages {order}",
            amounts("30c", "30G", pods=500),
            he6(order),
            {"pg1": 10, "pg2": 10, "pg31": 10, "pg32": 15, "pg4": 15},
        )
        for order in list(permutations(range(5)))[::17]
    ),
    Served(
        "HE7, E62: weights 3 and 1",
        amounts("8c"),
        [TreeJob("a", "root/a", "1/3", CPU, 8), TreeJob("b", "root/b", "1/1", CPU, 8)],
        {"a": 6, "b": 2},
    ),
    Served(
        "HE8: a weight below 1 counts as 1",
        amounts("8c"),
        [TreeJob("a", "root/a", "1/1", CPU, 8), TreeJob("b", "root/b", "1/0.3", CPU, 8)],
        {"a": 4, "b": 4},
    ),
    Served("HE9: rescaling is blind to weights", amounts("30c"), he9(), {"dev": 5, "prod": 16, "sci": 9}),
    Served("HE9 on paper", amounts("30c"), he9(), {"dev": 3, "prod": 12, "sci": 15}, "paper"),
    Served(
        "HE11: an exhausted resource speaks for its department",
        amounts("10c", gpu=10),
        HE11,
        {"n1": 10, "n21": 10, "n22": 0},
    ),
    Served("HE11 on paper", amounts("10c", gpu=10), HE11, {"n1": 5, "n21": 10, "n22": 5}, "paper"),
    Served(
        "the second figure of the paper: nobody is blocked by a saturated sibling",
        amounts("30c", "30G", pods=500),
        he6((0, 1, 2, 3, 4)),
        {"pg1": 10, "pg2": 10, "pg31": 10, "pg32": 15, "pg4": 15},
        "paper",
    ),
]


@pytest.mark.parametrize("case", SERVED, ids=lambda case: case.name)
def test_who_gets_what(case: Served) -> None:
    assert SharedTree(case.total, case.jobs, case.mode).serve() == case.want


def test_he10_a_department_is_taken_for_its_poorest_times_the_number_of_children() -> None:
    jobs = [
        TreeJob("dev", "root/eng/dev", "1/1/2", CPU, 100, 2),
        TreeJob("prod", "root/eng/prod", "1/1/8", CPU, 100, 8),
        TreeJob("sci", "root/sci", "1/1", CPU, 100, 10),
    ]
    upstream, paper = SharedTree(amounts("100c"), jobs), SharedTree(amounts("100c"), jobs, "paper")
    assert of(upstream.node("root/eng")) == (amounts("4c"), 0.04, False)
    assert upstream.compare("root/eng/dev", "root/sci") < 0
    assert of(paper.node("root/eng")) == (amounts("10c"), 0.1, False)


# --- saturation (D15) -----------------------------------------------------------------------------------------------


@frozen
class Saturation:
    name: str
    allocated: Amounts
    request: Amounts
    others: Amounts
    upstream: bool
    paper: bool


TOTAL = amounts("10c", "10G", gpu=4, pods=20)
SATURATION = [
    Saturation("half of what it wants, more to be had", CPU, amounts("2c"), CPU, False, False),
    Saturation("all of what it wants", CPU, CPU, CPU, True, True),
    Saturation("half of what it wants, nothing left", CPU, amounts("2c"), amounts("9c"), True, True),
    Saturation("nothing, and nothing left", amounts(0), amounts("2c"), amounts("10c"), False, True),
    Saturation("more than it wants, as some resource it does not want", CPU, amounts(0), CPU, False, True),
    Saturation(
        "E57: half of its tasks have finished and still count as wanted",
        amounts("5c"),
        amounts("10c"),
        CPU,
        False,
        False,
    ),
    Saturation("E58: it waits for gpus, of which none is left", CPU, amounts("2c", gpu=1), amounts(gpu=4), False, True),
    Saturation("E59: one gpu task runs, five cpu tasks wait", GPU, amounts("5c", gpu=1), CPU, True, False),
    Saturation("E59: no pod slots left", amounts("1c", pods=1), amounts("2c", pods=2), amounts(pods=19), True, True),
]


@pytest.mark.parametrize("case", SATURATION, ids=lambda case: case.name)
@pytest.mark.parametrize("mode", ["upstream", "paper"])
def test_when_a_job_is_saturated(case: Saturation, mode: Mode) -> None:
    tree = HdrfTree(NAMES, vector(TOTAL), mode)
    tree.set_job(tree.root, "other", vector(amounts("99c", "99G", gpu=99, pods=99)), vector(case.others))
    tree.set_job(tree.root, "job", vector(case.request), vector(case.allocated))
    assert tree.root.children["job"].saturated is getattr(case, mode)


# --- the tree and the order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["1/0.3", "1/abc", "1/-4"])
def test_e53_odd_weights_count_as_1(weights: str) -> None:
    shared = SharedTree(amounts("8c"), [TreeJob("a", "root/a", weights, CPU)])
    assert shared.node("root/a").weight == 1


def test_e54_a_node_keeps_its_first_weight() -> None:
    jobs = [TreeJob("a", "root/eng", "1/2", CPU), TreeJob("b", "root/eng", "1/5", CPU)]
    assert SharedTree(amounts("8c"), jobs).node("root/eng").weight == 2


def test_e55_fewer_weights_than_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="2 weights for 3 levels"):
        parse_hierarchy("root/a/b", "1/2")


def test_d14_an_empty_path_hangs_the_job_under_the_root() -> None:
    assert parse_hierarchy("", "") == ((), ())
    shared = SharedTree(amounts("8c"), [TreeJob("a", "", "", CPU)])
    assert shared.node("root/a").is_job


def test_e56_a_tenant_without_a_path_has_no_opinion() -> None:
    shared = SharedTree(amounts("8c"), [TreeJob("j", "", "", CPU, 2, 1), TreeJob("b", "root/a", "1/1", CPU)])
    assert compare_paths(shared.tree, (), ("a",)) == 0


def test_e60_an_unsaturated_tenant_comes_before_a_poorer_saturated_one() -> None:
    jobs = [
        TreeJob("rich", "root/rich", "1/1", amounts("9c"), 2, 1),
        TreeJob("poor", "root/poor", "1/1", amounts(0, "1G"), 1, 1),
    ]
    total = amounts("10c", "10G")
    assert SharedTree(total, jobs).compare("root/rich", "root/poor") == -1
    idle = TreeJob("idle", "root/poor", "1/1", CPU)
    assert SharedTree(total, [*jobs, idle]).compare("root/rich", "root/poor") > 0


def test_e61_no_tolerance_is_applied() -> None:
    jobs = [
        TreeJob("a", "root/a", "1/3", amounts("0.1c"), 10, 3),
        TreeJob("b", "root/b", "1/1", amounts("0.1c"), 10, 1),
    ]
    assert SharedTree(amounts("1c"), jobs).compare("root/a", "root/b") == -1.3877787807814457e-17


def test_d18_a_path_nobody_uses_counts_as_unsaturated_with_share_0() -> None:
    shared = SharedTree(amounts("8c"), [TreeJob("a", "root/a", "1/1", CPU, 2, 1)])
    assert shared.compare("root/nobody", "root/a") < 0


def test_d18_the_pairwise_order_runs_in_circles_and_the_key_does_not() -> None:
    jobs = [
        TreeJob("p", "root/x/p", "1/1/1", amounts("2c"), 2, 1),
        TreeJob("q", "root/x/q", "1/1/1", amounts("1c"), 2, 1),
        TreeJob("s", "root/s", "1/1", amounts("2c"), 2, 1),
    ]
    shared = SharedTree(amounts("10c"), jobs)
    x, s = shared.node("root/x"), shared.node("root/s")
    assert (x.share, x.saturated) == (s.share, s.saturated)
    # q before p by share; both tie with s, so ages p < s < q close the circle
    assert shared.compare("root/x/q", "root/x/p") < 0
    assert shared.compare("root/x/p", "root/s") == shared.compare("root/s", "root/x/q") == 0
    keys = {name: path_key(shared.tree, path) for name, path in (("p", "xp"), ("q", "xq"), ("s", "s"))}
    assert sorted(keys, key=keys.__getitem__) == ["s", "q", "p"]


# --- reclaim (§3.5) -------------------------------------------------------------------------------------------------


@frozen
class Case:
    """B asks for one 1c task from A; ``victim`` whether a task of A would go."""

    name: str
    cpus: str
    a: int
    b: int
    weights: tuple[str, str] = ("1/1", "1/1")
    wants: int = 20
    victim: bool = True
    ret: float | None = None


RECLAIM = [
    Case("HR1, E63: from rich to poor", "10c", 8, 0, ret=-0.6),
    Case("HR2, E63: not beyond equality", "10c", 6, 4, victim=False, ret=0),
    Case("HR3: weights 3 and 1", "10c", 8, 1, ("1/3", "1/1"), ret=0.2 - 0.7 / 3),
    Case("HR4: weights 3 and 1, nothing yet", "10c", 9, 0, ("1/3", "1/1"), ret=0.1 - 0.8 / 3),
    Case("HR5, E65: a reclaimer that would be satisfied", "9.5c", 9, 0, wants=1, victim=False, ret=1),
    Case("HR6: the same in a full cluster", "9c", 9, 0, wants=1, ret=1 / 9 - 8 / 9),
]


@pytest.mark.parametrize("case", RECLAIM, ids=lambda case: case.name)
def test_whom_a_tenant_may_reclaim(case: Case) -> None:
    jobs = [
        TreeJob("a", "root/A", case.weights[0], CPU, 20, case.a),
        TreeJob("b", "root/B", case.weights[1], CPU, case.wants, case.b),
    ]
    shared = SharedTree(amounts(case.cpus), jobs)
    before = shown(shared.tree)
    candidates = [(name, Reclaim("a", ("A",), vector(CPU))) for name in ("one", "two", "three")]

    victims = hdrf_victims(shared.tree, Reclaim("b", ("B",), vector(CPU)), candidates)

    assert victims == (["one", "two", "three"] if case.victim else [])  # E64: all equal candidates are named
    assert shown(shared.tree) == before


# --- incremental = anew ---------------------------------------------------------------------------------------------

PATHS = ["", "root/a", "root/b", "root/e/x", "root/e/y", "root/e/z/v"]
AMOUNT = st.builds(lambda c, m, g: amounts(c * 500, m * 10**8, gpu=g), *[st.integers(0, 6)] * 3)
STEP = st.tuples(st.integers(0, 7), st.sampled_from(["set", "set", "set", "remove"]), AMOUNT, AMOUNT)


def shown(tree: HdrfTree) -> list[object]:
    """Everything the tree knows."""

    def below(node: HdrfNode) -> list[object]:
        children = [below(child) for child in node.children.values()]
        return [node.name, node.weight, node.allocated, node.share, node.dominant, node.saturated, children]

    return [tree.allocated, below(tree.root)]


def anew(jobs: Mapping[str, tuple[Amounts, Amounts]], total: Amounts, mode: Mode) -> HdrfTree:
    tree = HdrfTree(NAMES, vector(total), mode)
    for name, (request, allocated) in sorted(jobs.items(), reverse=True):
        tree.set_job(tree.place(*home(name)), name, vector(request), vector(allocated))
    return tree


def home(name: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    path = PATHS[int(name[1:]) % len(PATHS)]
    names = tuple(path.split("/")[1:])
    return names, tuple(float(len(level)) + index for index, level in enumerate(names))


@settings(max_examples=200)
@given(st.lists(STEP, max_size=25), AMOUNT, st.sampled_from(["upstream", "paper"]))
def test_every_step_gives_what_building_anew_gives(
    steps: list[tuple[int, str, Amounts, Amounts]], more: Amounts, mode: Mode
) -> None:
    total = more.plus(amounts("1c"))
    tree, jobs = anew({}, total, mode), {}
    for number, action, one, other in steps:
        name = f"j{number}"
        if action == "set":
            jobs[name] = one, other
            tree.set_job(tree.place(*home(name)), name, vector(one), vector(other))
        elif action == "remove" and name in jobs:
            del jobs[name]
            tree.remove_job(name)
        assert shown(tree) == shown(anew(jobs, total, mode))


@given(st.dictionaries(st.integers(0, 7).map("j{}".format), st.tuples(AMOUNT, AMOUNT)))
def test_the_key_orders_as_the_comparison_where_that_is_decisive(jobs: dict[str, tuple[Amounts, Amounts]]) -> None:
    tree = anew(jobs, amounts("10c", "2G", gpu=12), "upstream")
    paths = [tuple(path.split("/")[1:]) for path in PATHS]
    for left in paths:
        for right in paths:
            difference = compare_paths(tree, left, right)
            if difference:
                assert (path_key(tree, left) < path_key(tree, right)) == (difference < 0)
