"""How long an entity stays away after a failed attempt: pure arithmetic (spec §2.4). Times in nanoseconds."""

from __future__ import annotations

import math

from gangsched_framework.infos import QueueingParams
from gangsched_queue.settings import SECOND, QueueSettings


def backoff_count(params: QueueingParams) -> int:
    """Failed attempts that count: consecutive errors if there are any, else rejections (spec §2.4.1)."""
    return params.consecutive_errors or params.unschedulable_count


def backoff_duration(count: int, members: int, settings: QueueSettings) -> int:
    """Length of the ``count``-th penalty of an entity that holds ``members`` pods."""
    if count == 0 or settings.max_backoff == 0:
        return 0
    maximum = settings.max_backoff
    if members > 1:
        maximum = int(float(maximum) * math.sqrt(members))  # spec §2.4.3, in float64 as the real scheduler
    doublings = count - 1
    if settings.initial_backoff > maximum >> doublings:
        return maximum
    return settings.initial_backoff << doublings


def expiration(timestamp: int, duration: int, settings: QueueSettings) -> int:
    """When a penalty that began at ``timestamp`` is served: with early pops the start of that second (spec §2.4.6)."""
    end = timestamp + duration
    return end - end % SECOND if settings.pop_from_backoff else end


def is_served(expires: int, now: int, settings: QueueSettings) -> bool:
    """Whether a penalty is over: with early pops the whole second of its end must have passed (spec §2.4.7-8)."""
    return expires < (now - now % SECOND if settings.pop_from_backoff else now)


def release_time(expires: int) -> int:
    """The backoff flush, one every whole second, that releases an entity of this expiration."""
    return expires - expires % SECOND + SECOND
