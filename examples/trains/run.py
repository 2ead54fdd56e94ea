"""Runs the example of job trains in every language. Each is a program with an engine of its own and must print the
same: the jobs of the train in their order, the job without a train anywhere among them.

    run.py [LANGUAGE …]      only these
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REGULAR = "deploy: in no train"
IN_TRAIN = ["deploy: number 1 of dest_123", "rollback: number 2 of dest_123"]
#: Seconds. A program that needs longer hangs; the worst of them compiles itself on a machine that does much else.
PATIENCE = 300


def java() -> list[str]:
    """Java compiles the file itself."""
    home = subprocess.run([ROOT / "scripts" / "jdk.sh"], check=True, capture_output=True, text=True).stdout.strip()
    jars = os.pathsep.join(str(jar) for jar in sorted((ROOT / "java" / "target").glob("ojs-*.jar")))
    return [f"{home}/bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", jars, str(HERE / "Trains.java")]


def command(language: str) -> list[str]:
    """How to run the example of a language."""
    match language:
        case "python":
            return [sys.executable, str(HERE / "trains.py")]
        case "node":
            return ["node", str(HERE / "trains.mjs")]
        case "ruby":
            return ["ruby", "-I", str(ROOT / "ruby" / "lib"), str(HERE / "trains.rb")]
        case "go":
            return ["go", "run", str(HERE / "trains.go")]
        case "java":
            return java()
        case "rust":
            target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
            return [str(target / os.environ.get("PROFILE", "release") / "examples" / "trains")]
    raise SystemExit(f"run.py: there is no '{language}'; there are {', '.join(LANGUAGES)}")


LANGUAGES = ("python", "node", "ruby", "go", "java", "rust")


def fault(language: str) -> str:
    """What is wrong with what the program prints, or nothing."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OJS_")}
    environment["PATH"] = f"{environment['PATH']}{os.pathsep}/usr/local/go/bin"
    folder = ROOT / "go" if language == "go" else ROOT
    ended = subprocess.run(command(language), cwd=folder, env=environment, text=True, timeout=PATIENCE,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    lines = ended.stdout.splitlines()
    if ended.returncode == 0 and lines.count(REGULAR) == 1 and [line for line in lines if line != REGULAR] == IN_TRAIN:
        return ""
    return f"ended with {ended.returncode} and printed:\n{ended.stdout}"


def main() -> int:
    failed = 0
    wanted = sys.argv[1:] or LANGUAGES
    for language in wanted:
        wrong = fault(language)
        failed += bool(wrong)
        print(f"{language:8}{wrong or 'ok'}", flush=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
