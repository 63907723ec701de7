"""Print the command that README.md gives after a marker, exactly as written.

    python3 .ci/readme_command.py test [README.md]

The marker is a comment line, and a fenced block with one line follows it directly:

    <!-- test -->
    ```sh
    the command
    ```
"""

import sys
from pathlib import Path


def command_after(marker: str, text: str) -> str:
    """The one line of the fenced block directly after the marker; ValueError says what is wrong."""
    wanted = f"<!-- {marker} -->"
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if line.strip() == wanted]
    if len(places) != 1:
        raise ValueError(f"wanted one line {wanted!r}, found {len(places)}")
    fence, command, end = [*lines[places[0] + 1 : places[0] + 4], "", "", ""][:3]
    if not fence.startswith("```"):
        raise ValueError(f"the line after {wanted!r} must open a fenced block, found {fence!r}")
    if not command.strip() or command.startswith("```") or end.strip() != "```":
        raise ValueError(f"the block after {wanted!r} must hold exactly one line")
    return command


def main() -> int:
    marker = sys.argv[1]
    readme = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent.parent / "README.md"
    try:
        print(command_after(marker, readme.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        print(f"{readme.name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
