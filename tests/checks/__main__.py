"""Tests of the scripts that check this repository: `python3 tests/checks`. Python 3.10, standard library only."""
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "scripts"), str(HERE.parent / "conformance")]


def main() -> int:
    result = unittest.TextTestRunner(sys.stdout, verbosity=2).run(unittest.TestLoader().discover(str(HERE)))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
