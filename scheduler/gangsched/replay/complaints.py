"""What is wrong with a trace: an error that ends the replay, or a count when the user asked for leniency."""

from __future__ import annotations

from attrs import define

from gangsched.manifests.errors import InputError
from gangsched.manifests.sources import shown
from gangsched_framework.errors import GangschedError, PluginError


@define
class Complaints:
    """Where complaints about one trace go: raised at once, or counted if ``lenient``.

    ``skipped`` counts what was left out, ``first`` is the complaint about the first of it.
    """

    path: str
    lenient: bool = False
    skipped: int = 0
    first: str = ""

    @property
    def name(self) -> str:
        """How errors call the trace."""
        return shown(self.path)

    def at(self, line: int, problem: InputError) -> InputError:
        """``problem``, placed in this trace. To be raised where leniency does not help."""
        problem.where = problem.where or f"{self.name}:{line}"
        return problem

    def add(self, line: int, problem: GangschedError) -> None:
        """Raise ``problem``, placed in this trace, or count it."""
        if isinstance(problem, InputError):
            problem = self.at(line, problem)
        if not self.lenient or isinstance(problem, PluginError):  # a plugin's fault is not the line's
            raise problem
        self.skipped += 1
        self.first = self.first or str(problem)
