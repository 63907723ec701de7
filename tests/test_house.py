"""The rules of the house: where files may lie, how long they may be, and who may import whom.

Each guard is a function from the root of a tree to a sorted list of complaints. The first half of this file holds
the guards and asks each about this tree; the second half breaks a toy tree in one place at a time and
wants the guard to notice, because a guard that never complains proves nothing.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

import pytest
from attrs import frozen

ROOT = Path(__file__).resolve().parent.parent
READ_COMMAND = str(ROOT / ".ci" / "readme_command.py")
PACKAGES = {
    "framework": "gangsched_framework",
    "queue": "gangsched_queue",
    "plugins": "gangsched_plugins",
    "scheduler": "gangsched",
}
MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 60

# What every plugin may import of its own room, besides itself. Only the registry names them all.
SHARED_BY_PLUGINS = {"common", "fairshare", "names"}
NAMES_ALL_PLUGINS = "default_registry"

# Files and folders of the top room that may import gangsched_plugins. The engine may not: it knows contracts only.
MAY_IMPORT_PLUGINS = {"gangsched/api.py", "gangsched/config", "gangsched/conform"}

# Decisions depend on events, configuration and seed alone, so nothing below may reach for the world outside.
SANS_IO = ["framework", "queue", "plugins", "scheduler/gangsched/engine"]
WORLD = {"asyncio", "concurrent", "multiprocessing", "secrets", "socket", "subprocess", "threading", "time", "uuid"}

Guard = Callable[[Path], list[str]]


# --- reading a tree ---------------------------------------------------------------------------------------------


def python_files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*.py")) if "__pycache__" not in path.parts)


def room_files(root: Path) -> list[Path]:
    return [path for room in PACKAGES for path in python_files(root / room)]


def imported_modules(path: Path) -> list[tuple[int, str]]:
    """(line, dotted name) of every import; `from a import b` gives `a.b`. Relative imports are banned by ruff."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


# --- the guards -------------------------------------------------------------------------------------------------


def rooms_are_not_packages(root: Path) -> list[str]:
    """An `__init__.py` in a room would make `queue/` hide the standard library's module of that name."""
    return [f"{room}/__init__.py" for room in sorted(PACKAGES) if (root / room / "__init__.py").exists()]


def no_folder_named_queue_is_a_package(root: Path) -> list[str]:
    """The same trap lies in any folder named queue from which something is started, as in `tests/queue`."""
    folders = [root / room for room in (*PACKAGES, "tests", "benchmarks", "examples")]
    inits = [path for folder in folders for path in folder.rglob("__init__.py") if path.parent.name == "queue"]
    return sorted(path.relative_to(root).as_posix() for path in inits)


def files_are_short(root: Path) -> list[str]:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in room_files(root)}
    return [
        f"{path.relative_to(root).as_posix()}: {length} lines, at most {MAX_FILE_LINES}"
        for path, length in lengths.items()
        if length > MAX_FILE_LINES
    ]


def functions_are_short(root: Path) -> list[str]:
    """Counted from `def` to the last line; decorators are not counted, the docstring is."""
    complaints = []
    for path in room_files(root):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    place = f"{path.relative_to(root).as_posix()}:{node.lineno}"
                    complaints.append(f"{place}: {node.name} has {length} lines, at most {MAX_FUNCTION_LINES}")
    return complaints


def packages_are_typed(root: Path) -> list[str]:
    markers = [f"{room}/{package}/py.typed" for room, package in sorted(PACKAGES.items())]
    return [marker for marker in markers if not (root / marker).is_file()]


def packages_say_what_they_are(root: Path) -> list[str]:
    """Each folder with Python in it is a package (or the import contracts could not see it) with a docstring."""
    complaints = []
    for room, package in PACKAGES.items():
        top = root / room / package
        for folder in sorted({top, *(path.parent for path in python_files(top))}):
            init, name = folder / "__init__.py", folder.relative_to(root).as_posix()
            if not init.exists():
                complaints.append(f"{name}: no __init__.py")
            elif not ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) and folder.name[0] != "_":
                complaints.append(f"{name}/__init__.py: no docstring")
    return complaints


def every_room_has_a_readme(root: Path) -> list[str]:
    return [f"{room}/README.md" for room in sorted(PACKAGES) if not (root / room / "README.md").is_file()]


def plugins_never_import_each_other(root: Path) -> list[str]:
    room = root / "plugins" / "gangsched_plugins"
    complaints = []
    for path in python_files(room):
        me = path.relative_to(room).parts[0].removesuffix(".py")
        if me == NAMES_ALL_PLUGINS:
            continue
        for line, module in imported_modules(path):
            first, _, rest = module.partition(".")
            other = rest.partition(".")[0]
            if first == "gangsched_plugins" and other and other not in SHARED_BY_PLUGINS | {me}:
                complaints.append(f"{path.relative_to(root).as_posix()}:{line}: imports {module}")
    return complaints


def few_files_know_the_plugins(root: Path) -> list[str]:
    complaints = []
    for path in python_files(root / "scheduler"):
        name = path.relative_to(root / "scheduler").as_posix()
        if any(name == allowed or name.startswith(f"{allowed}/") for allowed in MAY_IMPORT_PLUGINS):
            continue
        lines = {line for line, module in imported_modules(path) if module.split(".")[0] == "gangsched_plugins"}
        complaints += [f"scheduler/{name}:{line}: imports gangsched_plugins" for line in sorted(lines)]
    return complaints


def decisions_come_from_inputs_alone(root: Path) -> list[str]:
    """No clock, thread, socket or global randomness; a `random.Random` may be handed in."""
    complaints = []
    for path in (path for folder in SANS_IO for path in python_files(root / folder)):
        name = path.relative_to(root).as_posix()
        for line, module in imported_modules(path):
            dice = module.startswith("random.") and module != "random.Random"
            if dice or module.split(".")[0] in WORLD:
                complaints.append(f"{name}:{line}: imports {module}")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random":
                if node.attr != "Random":
                    complaints.append(f"{name}:{node.lineno}: uses random.{node.attr}")
    return complaints


def readme_commands_stand_alone(root: Path) -> list[str]:
    """The test and the run command: one line each, directly after its marker, starting from nothing."""
    complaints = []
    for marker in ("test", "run"):
        script = [sys.executable, READ_COMMAND, marker, str(root / "README.md")]
        answer = subprocess.run(script, capture_output=True, text=True, check=False)
        if answer.returncode:
            complaints.append(answer.stderr.strip())
        elif not answer.stdout.startswith("python3 -m venv .venv && "):
            complaints.append(f"README.md: the {marker} command must begin with: python3 -m venv .venv &&")
    return complaints


def import_contracts_hold(root: Path) -> list[str]:
    """The contracts of this repository's pyproject.toml, held against the packages under the given root."""
    paths = [str(root / room) for room in PACKAGES]
    code = "from importlinter.cli import lint_imports_command as lint; lint()"
    answer = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", str(ROOT / "pyproject.toml")],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return [] if answer.returncode == 0 else [(answer.stdout + answer.stderr).strip()]


GUARDS: list[Guard] = [
    rooms_are_not_packages,
    no_folder_named_queue_is_a_package,
    files_are_short,
    functions_are_short,
    packages_are_typed,
    packages_say_what_they_are,
    every_room_has_a_readme,
    plugins_never_import_each_other,
    few_files_know_the_plugins,
    decisions_come_from_inputs_alone,
    readme_commands_stand_alone,
    import_contracts_hold,
]


@pytest.mark.parametrize("guard", GUARDS, ids=attrgetter("__name__"))
def test_this_house(guard: Guard) -> None:
    complaints = guard(ROOT)
    assert not complaints, "\n".join(complaints)


def test_queue_is_the_standard_librarys() -> None:
    spec = importlib.util.find_spec("queue")
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).parent == Path(sysconfig.get_path("stdlib"))


def test_what_starts_at_the_root_finds_the_standard_librarys_queue() -> None:
    code = "import concurrent.futures, logging.handlers, queue; queue.Queue()"
    answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


# --- each guard, seen to complain -------------------------------------------------------------------------------

DOC = '"""Toy."""\n'
SOUND = {
    "README.md": "<!-- test -->\n```sh\npython3 -m venv .venv && a\n```\n"
    "<!-- run -->\n```sh\npython3 -m venv .venv && b\n```\n",
    "tests/queue/test_pop.py": "",
    "framework/gangsched_framework/status.py": "",
    "queue/gangsched_queue/active.py": "import queue\nimport random\nfrom gangsched_framework import status\n"
    "def pop(dice: random.Random) -> None: ...\n",
    "plugins/gangsched_plugins/names.py": "",
    "plugins/gangsched_plugins/common/__init__.py": DOC,
    "plugins/gangsched_plugins/common/maths.py": "",
    "plugins/gangsched_plugins/fairshare/__init__.py": DOC,
    "plugins/gangsched_plugins/fairshare/shares.py": "from gangsched_plugins.common import maths\n",
    "plugins/gangsched_plugins/fit.py": "from gangsched_framework import status\nfrom gangsched_plugins import names\n"
    "from gangsched_plugins.common.maths import add\n",
    "plugins/gangsched_plugins/drf/__init__.py": DOC + "from gangsched_plugins.drf.plugin import Drf\n",
    "plugins/gangsched_plugins/drf/plugin.py": "from gangsched_plugins.fairshare import shares\n",
    "plugins/gangsched_plugins/default_registry.py": "from gangsched_plugins import drf, fit\n",
    "scheduler/gangsched/__init__.py": DOC + "from gangsched import api\n",
    "scheduler/gangsched/__main__.py": "from gangsched.cli import main\n",
    "scheduler/gangsched/api.py": "from gangsched.config import read\nfrom gangsched_plugins import default_registry\n",
    "scheduler/gangsched/cli/__init__.py": DOC,
    "scheduler/gangsched/cli/main.py": "from gangsched.replay import clock\n",
    "scheduler/gangsched/config/__init__.py": DOC,
    "scheduler/gangsched/config/read.py": "import gangsched_plugins.names\nfrom gangsched.engine import core\n",
    "scheduler/gangsched/manifests/__init__.py": DOC,
    "scheduler/gangsched/bench/__init__.py": DOC + "import time\n",
    "scheduler/gangsched/report/__init__.py": DOC,
    "scheduler/gangsched/replay/__init__.py": DOC,
    "scheduler/gangsched/replay/clock.py": "import gangsched.api\n",
    "scheduler/gangsched/engine/__init__.py": DOC,
    "scheduler/gangsched/engine/core.py": "import gangsched_queue.active\nfrom gangsched_framework import status\n",
}


@frozen
class Broken:
    """One change to the sound toy tree (a text of None removes the file) and the complaint it must raise."""

    name: str
    guard: Guard
    path: str
    text: str | None
    want: str


LONG_FUNCTION = "async def f() -> None:\n" + "    pass\n" * MAX_FUNCTION_LINES
SCHEDULER, PLUGINS = "scheduler/gangsched", "plugins/gangsched_plugins"
NO_COMMAND = "<!-- run -->\n```sh\npython3 -m venv .venv && b\n```\n"

BROKEN = [
    Broken("a room is a package", rooms_are_not_packages, "queue/__init__.py", "", "queue/__init__.py"),
    Broken(
        "a test folder named queue is a package",
        no_folder_named_queue_is_a_package,
        "tests/queue/__init__.py",
        "",
        "tests/queue/__init__.py",
    ),
    Broken("a file is too long", files_are_short, "queue/gangsched_queue/x.py", "x = 1\n" * 351, "351 lines"),
    Broken("a function is too long", functions_are_short, f"{PLUGINS}/x.py", LONG_FUNCTION, "f has 61 lines"),
    Broken("a type marker is missing", packages_are_typed, f"{PLUGINS}/py.typed", None, f"{PLUGINS}/py.typed"),
    Broken(
        "a folder is no package", packages_say_what_they_are, f"{PLUGINS}/a/b.py", "", f"{PLUGINS}/a: no __init__.py"
    ),
    Broken("a package says nothing", packages_say_what_they_are, f"{SCHEDULER}/engine/__init__.py", "", "no docstring"),
    Broken("a room lacks its README", every_room_has_a_readme, "queue/README.md", None, "queue/README.md"),
    Broken(
        "a plugin imports another",
        plugins_never_import_each_other,
        f"{PLUGINS}/fit.py",
        "from gangsched_plugins.drf import Drf\n",
        "fit.py:1: imports gangsched_plugins.drf",
    ),
    Broken(
        "a plugin imports another by name of the package",
        plugins_never_import_each_other,
        f"{PLUGINS}/drf/plugin.py",
        "def f() -> None:\n    from gangsched_plugins import fit\n",
        "plugin.py:2: imports gangsched_plugins.fit",
    ),
    Broken(
        "a plugin imports the registry",
        plugins_never_import_each_other,
        f"{PLUGINS}/fit.py",
        "import gangsched_plugins.default_registry\n",
        "imports gangsched_plugins.default_registry",
    ),
    Broken(
        "the shared maths know a plugin",
        plugins_never_import_each_other,
        f"{PLUGINS}/common/maths.py",
        "import gangsched_plugins.fit\n",
        "maths.py:1: imports gangsched_plugins.fit",
    ),
    Broken(
        "the engine knows the plugins",
        few_files_know_the_plugins,
        f"{SCHEDULER}/engine/core.py",
        "from gangsched_plugins.names import FIT\n",
        "engine/core.py:1",
    ),
    Broken(
        "a file beside the allowed folder knows the plugins",
        few_files_know_the_plugins,
        f"{SCHEDULER}/configure.py",
        "import gangsched_plugins\n",
        "configure.py:1",
    ),
    Broken(
        "the engine reads the clock",
        decisions_come_from_inputs_alone,
        f"{SCHEDULER}/engine/core.py",
        "from time import monotonic\n",
        "core.py:1: imports time",
    ),
    Broken(
        "a plugin starts a thread pool",
        decisions_come_from_inputs_alone,
        f"{PLUGINS}/fit.py",
        "import concurrent.futures\n",
        "fit.py:1: imports concurrent",
    ),
    Broken(
        "a plugin throws the global dice",
        decisions_come_from_inputs_alone,
        f"{PLUGINS}/fit.py",
        "import random\nx = random.random()\n",
        "fit.py:2: uses random.random",
    ),
    Broken(
        "a plugin throws the global dice by its own name",
        decisions_come_from_inputs_alone,
        f"{PLUGINS}/fit.py",
        "from random import choice\n",
        "fit.py:1: imports random.choice",
    ),
    Broken("the README lacks a command", readme_commands_stand_alone, "README.md", NO_COMMAND, "<!-- test -->"),
    Broken(
        "a README command has two lines",
        readme_commands_stand_alone,
        "README.md",
        "<!-- test -->\n```sh\npython3 -m venv .venv\nb\n```\n" + NO_COMMAND,
        "exactly one line",
    ),
    Broken(
        "a README command is not directly after its marker",
        readme_commands_stand_alone,
        "README.md",
        "<!-- test -->\n\n```sh\npython3 -m venv .venv && b\n```\n" + NO_COMMAND,
        "must open a fenced block",
    ),
    Broken(
        "a README command leans on what is installed",
        readme_commands_stand_alone,
        "README.md",
        "<!-- test -->\n```sh\npytest\n```\n" + NO_COMMAND,
        "must begin with",
    ),
]

# The toy is held against the real contracts; the complaint is "IMPORTER is not allowed to import IMPORTED".
BROKEN_CONTRACTS = [
    Broken(name, import_contracts_hold, path, text, want)
    for name, path, text, want in [
        (
            "the framework imports the queue",
            "framework/gangsched_framework/x.py",
            "import gangsched_queue",
            "gangsched_framework is not allowed to import gangsched_queue",
        ),
        (
            "the queue imports a plugin",
            "queue/gangsched_queue/x.py",
            "import gangsched_plugins.fit",
            "gangsched_queue is not allowed to import gangsched_plugins",
        ),
        (
            "a plugin imports the queue",
            f"{PLUGINS}/x.py",
            "import gangsched_queue.active",
            "gangsched_plugins is not allowed to import gangsched_queue",
        ),
        (
            "a plugin imports the engine",
            f"{PLUGINS}/x.py",
            "import gangsched.engine",
            "gangsched_plugins is not allowed to import gangsched",
        ),
        (
            "a plugin's contract: another is imported",
            f"{PLUGINS}/drf/plugin.py",
            "import gangsched_plugins.fit",
            "gangsched_plugins.drf is not allowed to import gangsched_plugins.fit",
        ),
        (
            "a plugin's contract: the shared maths know one",
            f"{PLUGINS}/common/maths.py",
            "import gangsched_plugins.fit",
            "gangsched_plugins.common is not allowed to import gangsched_plugins.fit",
        ),
        (
            "the engine imports the api",
            f"{SCHEDULER}/engine/core.py",
            "import gangsched.api",
            "gangsched.engine is not allowed to import gangsched.api",
        ),
        (
            "the engine imports the face, and so the api",
            f"{SCHEDULER}/engine/core.py",
            "import gangsched",
            "gangsched.engine is not allowed to import gangsched.api",
        ),
        (
            "config imports manifests",
            f"{SCHEDULER}/config/read.py",
            "import gangsched.manifests",
            "gangsched.config is not allowed to import gangsched.manifests",
        ),
        (
            "bench imports the report",
            f"{SCHEDULER}/bench/__init__.py",
            "import gangsched.report",
            "gangsched.bench is not allowed to import gangsched.report",
        ),
        (
            "replay imports the cli",
            f"{SCHEDULER}/replay/clock.py",
            "import gangsched.cli.main",
            "gangsched.replay is not allowed to import gangsched.cli",
        ),
        (
            "a module of the top room has no floor",
            f"{SCHEDULER}/helpers.py",
            "",
            "The following modules are not listed as layers:\n\n- gangsched.helpers",
        ),
    ]
]


def make_toy(root: Path) -> None:
    files = dict(SOUND)
    for room, package in PACKAGES.items():
        files.setdefault(f"{room}/{package}/__init__.py", DOC)
        files |= {f"{room}/{package}/py.typed": "", f"{room}/README.md": ""}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def sound_toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("toy")
    make_toy(root)
    return root


@pytest.mark.parametrize("guard", GUARDS, ids=attrgetter("__name__"))
def test_a_sound_toy_passes(guard: Guard, sound_toy: Path) -> None:
    assert guard(sound_toy) == []


@pytest.mark.parametrize("case", BROKEN + BROKEN_CONTRACTS, ids=attrgetter("name"))
def test_a_broken_toy_is_noticed(case: Broken, sound_toy: Path, tmp_path: Path) -> None:
    root = tmp_path / "toy"
    shutil.copytree(sound_toy, root)
    path = root / case.path
    if case.text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(case.text, encoding="utf-8")

    complaints = case.guard(root)

    assert len(complaints) == 1
    assert case.want in complaints[0]


def test_the_commands_are_read_exactly_as_written(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Toy\n<!-- run -->\n```console\na  '$b' && c \\\n```\nmore\n", encoding="utf-8")

    script = [sys.executable, READ_COMMAND, "run", str(readme)]
    answer = subprocess.run(script, capture_output=True, text=True, check=True)

    assert answer.stdout == "a  '$b' && c \\\n"
