"""gangsched: kube-scheduler's queue and PodGroup cycle as an engine to embed, replay and benchmark.

The names below are the documented ones; everything else may move.
"""

from gangsched.api import Engine
from gangsched.config import FeatureGates, SchedulerConfig, default_config, load_config
from gangsched.engine.decisions import Bind, Decision, Evict, Nominate, RecordEvent, SetCondition, SetGroupCondition
from gangsched.engine.report import CycleReport, GroupVerdict, PodVerdict, Refused
from gangsched.engine.scheduler import Scheduler
from gangsched.engine.settings import Settings
from gangsched.host import Host
from gangsched_framework.errors import GangschedError

__all__ = [
    "Bind",
    "CycleReport",
    "Decision",
    "Engine",
    "Evict",
    "FeatureGates",
    "GangschedError",
    "GroupVerdict",
    "Host",
    "Nominate",
    "PodVerdict",
    "RecordEvent",
    "Refused",
    "Scheduler",
    "SchedulerConfig",
    "SetCondition",
    "SetGroupCondition",
    "Settings",
    "default_config",
    "load_config",
]
