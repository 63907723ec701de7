"""What the plugins of a Volcano session know when it opens: shares, deserved amounts, the HDRF tree."""

from __future__ import annotations

from attrs import frozen

from gangsched.conform.records import Record
from gangsched.conform.volcano_conf import SessionConf
from gangsched.conform.volcano_session import OpenSession
from gangsched_framework.resources import CPU, MEMORY
from gangsched_plugins.fairshare.amounts import NO_AMOUNTS, Amounts
from gangsched_plugins.fairshare.capacity import capacity_share, quota
from gangsched_plugins.fairshare.capacity_tree import Branch, NotReady, Quota, build_tree
from gangsched_plugins.fairshare.demand import NO_DEMAND, Demand
from gangsched_plugins.fairshare.deserved import Claim, divide
from gangsched_plugins.fairshare.dominant_share import DominantShare, dominant_share
from gangsched_plugins.fairshare.entitlement import real_capability, share_of_deserved, total_of
from gangsched_plugins.fairshare.hdrf import HdrfNode, HdrfTree, Vector
from gangsched_plugins.fairshare.hdrf_order import parse_hierarchy


@frozen
class TenantState:
    """One queue of Proportion or Capacity."""

    demand: Demand
    deserved: Amounts
    real_capability: Amounts
    guarantee: Amounts
    share: float

    def record(self) -> Record:
        amounts = {
            "deserved": self.deserved,
            "allocated": self.demand.allocated,
            "request": self.demand.request,
            "elastic": self.demand.elastic,
            "inqueue": self.demand.inqueue,
            "realCapability": self.real_capability,
            "guarantee": self.guarantee,
        }
        return {name: amounts_record(value) for name, value in amounts.items()} | {"share": self.share}


def amounts_record(amounts: Amounts) -> Record:
    """Resources as an object (conformance README of volcano, §4)."""
    return {CPU: amounts.cpu, MEMORY: amounts.memory, **amounts.others}


def proportion_state(session: OpenSession) -> dict[str, TenantState]:
    """Queues with jobs: their water-filled parts (spec §4.1-4.2)."""
    demands = {queue.name: session.demand_of(queue.name) for queue in session.busy}
    real = _real_capabilities(session)
    claims = [
        Claim(queue.name, queue.weight, demands[queue.name].request, real[queue.name], queue.guarantee)
        for queue in session.busy
    ]
    deserved = divide(session.total, claims).deserved
    return {
        queue.name: TenantState(
            demands[queue.name],
            deserved[queue.name],
            real[queue.name],
            queue.guarantee,
            share_of_deserved(demands[queue.name].allocated, deserved[queue.name]),
        )
        for queue in session.busy
    }


def _real_capabilities(session: OpenSession) -> dict[str, Amounts]:
    guaranteed = total_of(queue.guarantee for queue in session.queues.values())
    return {
        queue.name: real_capability(session.total, guaranteed, queue.guarantee, queue.capability, upstream=True)
        for queue in session.busy
    }


def capacity_state(session: OpenSession) -> dict[str, TenantState]:
    """Queues with jobs: their quotas (spec §4.6, flat)."""
    states = {}
    for name, real in _real_capabilities(session).items():
        queue, demand = session.queues[name], session.demand_of(name)
        deserved = quota(queue.deserved, real, queue.guarantee)
        share = capacity_share(demand.allocated, deserved)
        states[name] = TenantState(demand, deserved, real, queue.guarantee, share)
    return states


def capacity_branches(session: OpenSession) -> dict[str, Branch] | None:
    """The hierarchy of quotas; None when it is broken (K12)."""
    quotas = [
        Quota(queue.name, queue.parent, queue.capability, queue.deserved, queue.guarantee, queue.priority)
        for queue in session.queues.values()
    ]
    demands = {queue.name: session.demand_of(queue.name) for queue in session.busy}
    try:
        return build_tree(quotas, demands, session.total)
    except NotReady:
        return None


def capacity_tree_state(session: OpenSession) -> dict[str, TenantState]:
    """Every queue of the hierarchy; of a broken one nothing is known but the names."""
    branches = capacity_branches(session)
    if branches is None:
        nothing = TenantState(NO_DEMAND, NO_AMOUNTS, NO_AMOUNTS, NO_AMOUNTS, 0)
        return dict.fromkeys(session.queues, nothing)
    return {
        name: TenantState(branch.demand, branch.deserved, branch.real_capability, branch.guarantee, branch.rank[0])
        for name, branch in branches.items()
    }


# --- DRF ------------------------------------------------------------------------------------------------------------


def job_shares(session: OpenSession) -> dict[str, DominantShare]:
    """By uid of the job."""
    return {job.uid: dominant_share(job.allocated, session.total) for job in session.jobs}


def drf_state(session: OpenSession) -> Record:
    shares = job_shares(session)
    return {
        job.name: {
            "allocated": amounts_record(job.allocated),
            "share": shares[job.uid].share,
            "dominant": shares[job.uid].resource,
        }
        for job in session.jobs
    }


def hdrf_tree(session: OpenSession) -> HdrfTree:
    """The tree of all jobs. Raises ValueError for a queue with fewer weights than levels (E55)."""
    scalars: dict[str, None] = {}
    for amounts in (session.total, *(job.request for job in session.jobs)):
        scalars.update(dict.fromkeys(amounts.others))
    names = (CPU, MEMORY, *sorted(scalars))
    tree = HdrfTree(names, _vector(session.total, names))
    for job in session.jobs:
        queue = session.queues[job.queue]
        node = tree.place(*parse_hierarchy(queue.hierarchy, queue.hierarchy_weights))
        tree.set_job(node, job.uid, _vector(job.request, names), _vector(job.allocated, names))
    return tree


def _vector(amounts: Amounts, names: tuple[str, ...]) -> Vector:
    return [amounts.get(name) for name in names]


def hdrf_record(tree: HdrfTree, node: HdrfNode, names: dict[str, str]) -> Record:
    """A node and all below it. ``names``: what the records call the jobs, by uid."""
    record: Record = {
        "name": names.get(node.name, node.name) if node.is_job else node.name,
        "weight": node.weight,
        "share": node.share,
        "dominant": tree.names[node.dominant] if node.dominant >= 0 else "",
        "saturated": node.saturated,
        "allocated": dict(zip(tree.names, node.allocated, strict=True)),
    }
    if node.request is not None:
        return record | {"job": True, "request": dict(zip(tree.names, node.request, strict=True))}
    return record | {"children": [hdrf_record(tree, child, names) for child in node.children.values()]}


def open_state(session: OpenSession, conf: SessionConf) -> Record:
    """The state of every configured plugin that has one, as recorded under ``open``."""
    record: Record = {}
    capacity = conf.find("capacity")
    if conf.find("proportion") is not None:
        record["proportion"] = {name: state.record() for name, state in proportion_state(session).items()}
    if capacity is not None:
        tree = capacity.on("enableHierarchy")
        states = capacity_tree_state(session) if tree else capacity_state(session)
        record["capacity"] = {name: state.record() for name, state in states.items()}
    if conf.find("drf") is not None:
        record["drf"] = drf_state(session)
    if conf.hierarchical:
        tree_ = hdrf_tree(session)
        record["hdrf"] = hdrf_record(tree_, tree_.root, {job.uid: job.name for job in session.jobs})
        record["hdrfTotalAllocated"] = dict(zip(tree_.names, tree_.allocated, strict=True))
    return record
