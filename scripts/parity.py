#!/usr/bin/env python3
"""The same behaviour in every language: tests/parity/behaviours.json names, for each behaviour, the test that shows it in each language.

    parity.py write     writes the table into docs/languages.md
    parity.py check     fails when the table is another one, and when a named test has not passed in the latest run of its suite

What ran is read from what the suites of check.py leave behind: target/test-logs and the reports of Maven. A null stands for a behaviour
that a language has no test of: it is shown as a dash, and its `why` below the table. Python 3.10, standard library only.
"""
import json
import re
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target" / "test-logs"
BEHAVIOURS = ROOT / "tests" / "parity" / "behaviours.json"
PAGE = ROOT / "docs" / "languages.md"
BEGIN, END = "<!-- parity: scripts/parity.py write -->", "<!-- end of parity -->"

#: Per language: the logs, and the line of a test that passed.
LINES = {
    "rust": (("store", "rust", "wire", "faults"), r"^test (?:\S+::)?(\S+) \.\.\. ok$"),
    "node": (("node",), r"^\s*ok \d+ - (.+?)(?: # .*)?$"),
    "ruby": (("ruby",), r"^(\w+#test_.+) = [\d.]+ s = \.$"),
    "go": (("go",), r"^\s*--- PASS: (\S+) "),
}


def passed(language: str) -> set[str]:
    """The names of the tests that passed."""
    if language in LINES:
        logs, line = LINES[language]
        # A suite that ran again has run only what failed at first.
        paths = [path for log in logs for path in (LOGS / f"{log}.first.log", LOGS / f"{log}.log") if path.exists()]
        texts = [path.read_text(errors="replace") for path in paths]
        return {match[1] for text in texts for match in re.finditer(line, text, re.MULTILINE)}
    surefire = ROOT / language / "target/surefire-reports"
    reports = [LOGS / "pytest.xml"] if language == "python" else surefire.glob("TEST-*.xml")
    good: set[str] = set()
    bad: set[str] = set()
    for report in reports:
        for case in tree.parse(report).getroot().iter("testcase") if report.exists() else ():
            name = case.get("name", "")
            # A test with parameters is also the whole of them; Java's generated ones have no name of their own. Kotlin
            # writes the module after the name of a test whose parameters are internal: `name$ojs_kotlin`.
            whole = re.split(r"[\[({$]", name)[0]
            names = {name, whole} if language == "python" else {f"{case.get('classname', '').rsplit('.', 1)[-1]}.{whole}"}
            (bad if any(case.find(kind) is not None for kind in ("failure", "error", "skipped")) else good).update(names)
    return good - bad


def table(data: dict) -> str:
    """The table in Markdown: one row per behaviour."""
    languages = data["languages"]
    rows = [f"| | {' | '.join(languages.values())} |", f"|---|{'---|' * len(languages)}"]
    area = ""
    for entry in data["behaviours"]:
        if entry["area"] != area:
            area = entry["area"]
            rows.append(f"| **{area}** |{' |' * len(languages)}")
        marks = ("✓" if entry["tests"][language] else "–" for language in languages)
        rows.append(f"| {entry['behaviour']} | {' | '.join(marks)} |")
    dashes = [(entry, language) for entry in data["behaviours"] for language in languages if entry["tests"][language] is None]
    if dashes:
        rows += ["", "The dashes:", ""]
        rows += [f"- {languages[language]}, {entry['behaviour']}: {entry['why'][language]}." for entry, language in dashes]
    return "\n".join(rows)


def page(data: dict) -> str:
    """The page with the table in it."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table(data)}\n{END}{rest.split(END)[1]}"


def main() -> int:
    data = json.loads(BEHAVIOURS.read_text(encoding="utf-8"))
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    if what == "write":
        PAGE.write_text(page(data), encoding="utf-8")
        return 0
    if what != "check":
        print(__doc__, file=sys.stderr)
        return 2
    faults = [] if page(data) == PAGE.read_text(encoding="utf-8") else ["docs/languages.md has another table: run scripts/parity.py write"]
    good = 0
    for language in data["languages"]:
        ran = passed(language)
        if not ran:
            faults.append(f"{language}: its suites have left no tests behind; run check.py --only parity")
            continue
        for entry in data["behaviours"]:
            test = entry["tests"][language]
            if test is not None and test not in ran:
                faults.append(f"{language}: '{test}' ({entry['behaviour']}) has not passed")
            elif test is not None:
                good += 1
    print("\n".join(faults))
    print(f"{good} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
