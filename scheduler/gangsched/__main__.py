"""``python -m gangsched``."""

from gangsched.cli.main import main

if __name__ == "__main__":
    main(prog_name="gangsched")
