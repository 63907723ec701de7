"""What becomes of a core in which something was broken off half-way."""

from __future__ import annotations

from typing import Any

from gangsched_framework.errors import GangschedError, on_one_line


class GivenUp:
    """A core that was broken off half-way: every use is refused, so that nobody goes on with half a change.

    A core becomes one by ``give_up``: the calls of a sound one need not ask whether it is.
    """

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, "__dict__")
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise GangschedError(f"the engine was broken off half-way by {found['why']}; make a new one")


def give_up(core: object, problem: BaseException) -> None:
    """From now on every use of ``core`` raises GangschedError with what broke it off first."""
    if type(core) is GivenUp:
        return
    told = str(problem) if isinstance(problem, GangschedError) else f"{type(problem).__name__}: {problem}"
    core.__dict__.clear()
    core.__dict__["why"] = on_one_line(told.removesuffix(": "))
    core.__class__ = GivenUp
