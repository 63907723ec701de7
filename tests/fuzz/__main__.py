"""The long run of the fuzzer: ``python -m tests.fuzz --inputs 100000 --seed 1`` (docs/testing.md).

Prints how many inputs of each kind were accepted and refused. A failing input is kept, its number printed, and the
run goes on; ``--kind KIND --only NUMBER`` repeats it. Exit code 1 when one failed.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.readers import READERS, SHARES, one


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=READERS, help="inputs of one kind only")
    parser.add_argument("--only", metavar="NUMBER", help="this input of --kind, its failure as it is")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if options.only is not None:
            print("accepted" if one(options.only, Path(name), options.kind) else "refused")
            return 0
        return _many(options.inputs, options.seed, options.kind, Path(name))


def _many(inputs: int, seed: int, only: str | None, folder: Path) -> int:
    counts = {kind: [0, 0] for kind in READERS}
    failed: list[str] = []
    slowest, hungriest = (0.0, ""), (0, "")
    for index, kind in zip(range(inputs), _kinds(only), strict=False):
        number = f"{seed}.{index}"
        started, held = time.process_time(), _most_memory()
        try:
            accepted = one(number, folder, kind)
        except Exception:
            failed.append(f"--kind {kind} --only {number}")
            kept = Path(tempfile.gettempdir()) / f"fuzz-{kind}-{number}"
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            print(f"FAILED {failed[-1]}, kept in {kept}\n{traceback.format_exc(limit=-4)}", flush=True)
        else:
            counts[kind][accepted] += 1
        slowest = max(slowest, (time.process_time() - started, f"{kind} {number}"))
        hungriest = max(hungriest, (_most_memory() - held, f"{kind} {number}"))
        if (index + 1) % 500 == 0:
            gc.collect()  # which no single input may spend its time on
        if (index + 1) % 5000 == 0:
            print(f"{index + 1} inputs, {len(failed)} failed", file=sys.stderr, flush=True)
    for kind, (refused, accepted_count) in counts.items():
        print(f"{kind:15} {accepted_count:7} accepted {refused:7} refused")
    print(f"slowest: {slowest[0]:.2f} s ({slowest[1]})")
    print(f"most memory: {_most_memory()} MB, {hungriest[0]} MB of it at once ({hungriest[1]})")
    print(f"{inputs} inputs, {len(failed)} failed")
    return 1 if failed else 0


def _most_memory() -> int:
    """Megabytes of memory this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _kinds(only: str | None) -> Iterator[str]:
    return itertools.cycle([only] if only else [kind for kind, share in SHARES.items() for _ in range(share)])


if __name__ == "__main__":
    sys.exit(main())
