"""Play a node-plugin case: the Framework on one snapshot, point by point (conformance/node-plugins/README.md)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from gangsched.conform.bench import Bench
from gangsched.conform.compare import differences
from gangsched.conform.errors import ConformError
from gangsched.conform.hints import hint_records
from gangsched.conform.records import Record, without_empty
from gangsched.conform.scenario import Difference, Options, Scenario
from gangsched.engine.pod_algorithm import score_nodes
from gangsched_framework.cycle_state import CycleState
from gangsched_framework.errors import ConfigurationError, GangschedError
from gangsched_framework.node_info import NodeInfo
from gangsched_framework.run_pod import PreFilterOutcome
from gangsched_framework.status import FitError, Status

NOT_BUILT_FIELDS = ("signature",)
"""Upstream's pod signature is too coarse to be of use (spec node-plugins.md §6.4)."""


def compare_case(scenario: Scenario, options: Options) -> list[Difference]:
    """Play one case and compare. Raises NotBuilt when it needs a plugin that is not there."""
    want = scenario.document["want"]
    try:
        bench = Bench(scenario.document)
    except ConfigurationError as refusal:
        return [] if "invalid" in want else [Difference(None, "invalid", None, str(refusal))]
    except GangschedError as problem:
        raise ConformError(f"{scenario.where}: {scenario.name}: {problem}") from None
    got = play_case(bench, scenario.document)
    expected = {key: copy.copy(value) for key, value in want.items() if key not in NOT_BUILT_FIELDS}
    _leave_out_chance(expected, got)
    return differences(_without_empty(expected), _without_empty(got), options.fields)


# --- playing --------------------------------------------------------------------------------------------------------


def play_case(bench: Bench, case: Mapping[str, Any]) -> Record:
    """Everything ``want`` may hold, as this engine has it."""
    record: Record = {"nodeOrder": [node.name for node in bench.nodes]}
    refused = bench.framework.run_pre_enqueue(bench.pod)
    if refused is not None:
        record["preEnqueue"] = _status(refused)
    if "repeat" in case:
        record["runs"] = [bench.run() for _ in range(case["repeat"])]
        record["feasible"] = []
    else:
        record |= _filter(bench)
    if "hints" in case:
        record["hints"] = hint_records(bench, case["hints"])
    return record


def _filter(bench: Bench) -> Record:
    """PreFilter and Filter of every node, and what follows from them."""
    state = CycleState()
    outcome = bench.framework.run_pre_filter(state, bench.pod, bench.nodes)
    record: Record = {"preFilter": _pre_filter(state, outcome)}
    feasible: list[NodeInfo] = []
    if outcome.status is None:
        verdicts: list[Record] = []
        for node in bench.nodes:
            verdict, fits = _verdict(bench, state, node, outcome)
            verdicts.append(verdict)
            if fits:
                feasible.append(node)
        record["filter"] = verdicts
    record["feasible"] = [node.name for node in feasible]
    if feasible:
        record |= _scores(bench, state, feasible)
    return record | _result(bench)


def _pre_filter(state: CycleState, outcome: PreFilterOutcome) -> Record:
    record: Record = {"skip": sorted(state.skip_filter)}
    if outcome.names:
        record["nodes"] = sorted(outcome.names)
    if outcome.status is not None:
        record["status"] = _status(outcome.status)
    return without_empty(record)


def _verdict(bench: Bench, state: CycleState, node: NodeInfo, outcome: PreFilterOutcome) -> tuple[Record, bool]:
    if outcome.names is not None and node.name not in outcome.names:
        return {"node": node.name, "code": "Excluded"}, False
    status = bench.framework.run_filter_with_nominated_pods(state, bench.pod, node)
    if status is None:
        return {"node": node.name, "code": "Success"}, True
    return {"node": node.name} | _status(status), False


def _scores(bench: Bench, state: CycleState, feasible: Sequence[NodeInfo]) -> Record:
    table = score_nodes(bench.framework, state, bench.pod, feasible)
    if isinstance(table, Status):
        return {"scoreError": table.message}
    best = max(table.total)
    return {
        "preScoreSkip": sorted(state.skip_score),
        "scores": [
            {
                "node": node.name,
                "raw": {name: values[i] for name, values in table.raw.items()},
                "normalized": {name: values[i] for name, values in table.normalized.items()},
                "total": table.total[i],
            }
            for i, node in enumerate(feasible)
        ],
        "best": [node.name for node, total in zip(feasible, table.total, strict=True) if total == best],
    }


def _result(bench: Bench) -> Record:
    """What the whole algorithm says, and the post-filter when nothing fits."""
    state = CycleState()
    answer = bench.algorithm.schedule(bench.framework, state, bench.pod)
    if isinstance(answer, str):
        return {"chosen": answer}
    record: Record = {"error": answer.message}
    if isinstance(answer, FitError):
        record["unschedulablePlugins"] = sorted(answer.unschedulable_plugins)
        _, status = bench.framework.run_post_filter(state, bench.pod, answer.node_statuses)
        record["postFilter"] = _status(status) if status is not None else {"code": "Success"}
        message = status.message if status is not None else ""
        record["finalError"] = f"{answer.message} {message}" if message else answer.message
    return record


def _status(status: Status) -> Record:
    return without_empty({"code": status.code.value, "plugin": status.plugin, "reasons": sorted(status.reasons)})


# --- comparing ------------------------------------------------------------------------------------------------------


def _leave_out_chance(expected: Record, got: Record) -> None:
    """Leave out what the recording calls meaningless or random."""
    if len(expected.get("best", ())) > 1 and "chosen" not in expected:
        got.pop("chosen", None)  # random among nodes that PreFilter narrowed to (spec §4.1.6)
    for record in (expected, got):
        if "postFilter" in record:
            record["postFilter"].pop("plugin", None)
    if expected.get("postFilter") == {"code": "Success"} and "postFilter" in got:
        got["postFilter"].pop("reasons", None)  # the pick among several nodes is random
        got.pop("finalError", None)


def _without_empty(record: Record) -> Record:
    if "preFilter" in record:
        record["preFilter"] = without_empty(record["preFilter"])
    return without_empty(record)
