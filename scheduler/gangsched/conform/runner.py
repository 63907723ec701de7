"""Play scenarios and give each its verdict, in one process or in several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial

from gangsched.conform import configurations, kube, node_plugins, quantities, volcano
from gangsched.conform.compare import broken
from gangsched.conform.errors import ConformError, NotBuilt
from gangsched.conform.scenario import Difference, Options, Outcome, Scenario
from gangsched_framework.errors import GangschedError


def selected(scenarios: Iterable[Scenario], pattern: str) -> Iterator[Scenario]:
    """Those whose name contains ``pattern``, or matches it when it holds wildcards (``*``, ``?``, ``[``).

    Raises ConformError when there is none.
    """
    wild = any(sign in pattern for sign in "*?[")
    none = True
    for scenario in scenarios:
        if fnmatchcase(scenario.name, pattern) if wild else pattern in scenario.name:
            none = False
            yield scenario
    if none:
        raise ConformError(f"-k {pattern}: no scenario has such a name")


def run(scenarios: Iterable[Scenario], options: Options, jobs: int = 1) -> Iterator[Outcome]:
    """Outcomes in the order of the scenarios."""
    if jobs <= 1:
        yield from map(partial(play, options=options), scenarios)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap(partial(play, options=options), scenarios, chunksize=4)


def play(scenario: Scenario, options: Options) -> Outcome:
    """Play one scenario and judge it."""
    if scenario.format == "volcano" and options.state_only:
        return _play_opening(scenario)
    try:
        found = tuple(_differences(scenario, options))
    except NotBuilt as missing:
        return Outcome(scenario.name, scenario.where, "skipped", reason=str(missing))
    except GangschedError:
        raise
    except Exception as problem:  # a bug of the engine fails this scenario, not the run
        found = (broken(problem),)
    reason = scenario.differs
    passed = bool(found) if reason else not found
    return Outcome(scenario.name, scenario.where, "passed" if passed else "failed", found, reason, bool(reason))


def _play_opening(scenario: Scenario) -> Outcome:
    found, note = volcano.compare_state(scenario)
    return Outcome(scenario.name, scenario.where, "failed" if found else "passed", tuple(found), note)


def _differences(scenario: Scenario, options: Options) -> list[Difference]:
    if scenario.format == "kube":
        return kube.compare_scenario(scenario, options)
    if scenario.format == "node-plugin":
        return node_plugins.compare_case(scenario, options)
    if scenario.format == "quantity":
        return quantities.compare_quantity(scenario, options)
    if scenario.format == "configuration":
        return configurations.compare_configuration(scenario, options)
    if scenario.format == "facts":
        return configurations.compare_facts(scenario, options)
    raise NotBuilt("needs a model of sessions; --state-only compares what was known when the first one opened")
