"""What every cycle works with."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from gangsched.engine.idle import IdleRetries
from gangsched.engine.memo import Memo
from gangsched.engine.outbox import Outbox
from gangsched.engine.pod_algorithm import PodAlgorithm
from gangsched.engine.podgroup_algorithm import PodGroupAlgorithm
from gangsched.engine.session import START, Session
from gangsched.engine.settings import GroupScheduling
from gangsched.engine.stage_log import StageLog
from gangsched.engine.submit import Submitter
from gangsched.engine.trace import Tracer
from gangsched.engine.world import World
from gangsched_framework.framework import Framework
from gangsched_framework.snapshot import Snapshot
from gangsched_queue.scheduling_queue import SchedulingQueue


@define(eq=False)
class Tools:
    """What a cycle works with; owned by the Scheduler."""

    world: World
    snapshot: Snapshot
    queue: SchedulingQueue
    algorithm: PodAlgorithm
    submitter: Submitter
    outbox: Outbox
    trace: Tracer
    frameworks: Mapping[str, Framework]
    log: StageLog
    groups: GroupScheduling
    memo: Memo | None = None
    idle: IdleRetries | None = None
    policy_gate: bool = False
    sessions: Mapping[str, Session] = field(init=False)
    """By the name of the profile."""
    trees: Mapping[str, PodGroupAlgorithm] = field(init=False)
    """By the name of the profile."""

    def __attrs_post_init__(self) -> None:
        snapshot, algorithm, trace = self.snapshot, self.algorithm, self.trace
        self.sessions = {name: Session(each, snapshot, algorithm, trace) for name, each in self.frameworks.items()}
        self.trees = {name: PodGroupAlgorithm(session, self.groups) for name, session in self.sessions.items()}

    def let_go(self, session: Session) -> bool:
        """End the hold on the world. Whether the reservations of the session stay counted on their nodes.

        They do when nothing happened meanwhile; else they are taken back first, so that what waited meets the world as
        it was, and submit counts each pod anew.
        """
        if self.world.held is None or self.world.let_go():
            if session.framework.reserves:
                session.unreserve()
            self.snapshot.commit()
            return True
        session.revert(START)
        self.world.release()
        return False
