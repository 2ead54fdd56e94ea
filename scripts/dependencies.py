#!/usr/bin/env python3
"""Every direct dependency has a line in docs/dependencies.md, and every crate a licence that deny.toml allows.

Prints what is wrong, then "N passed, N failed". Python 3.10, standard library only.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def documented() -> set[str]:
    """The names in the tables of the page."""
    return set(re.findall(r"^\| ([\w@/.-]+) \|", (ROOT / "docs" / "dependencies.md").read_text(), re.MULTILINE)) - {"crate", "package"}


def allowed_licences() -> set[str]:
    """The list in deny.toml. (tomllib came with Python 3.11; the list is plain enough.)"""
    text = (ROOT / "deny.toml").read_text()
    listing = re.search(r"^allow = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r'"([^"]+)"', listing[1])) if listing else set()


def exceptions() -> dict[str, set[str]]:
    """What deny.toml allows to single crates."""
    listing = re.findall(r'crate = "([^"]+)", allow = \[([^\]]*)\]', (ROOT / "deny.toml").read_text())
    return {name: set(re.findall(r'"([^"]+)"', licences)) for name, licences in listing}


def acceptable(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met: every AND part must have an allowed OR alternative. Nesting is read by brackets."""
    expression = expression.replace("/", " OR ").strip()
    while match := re.search(r"\(([^()]*)\)", expression):
        verdict = "MIT" if acceptable(match[1], allowed) else "none"
        expression = expression[: match.start()] + verdict + expression[match.end() :]
    parts = re.split(r"\s+AND\s+", expression)
    return all(any(choice.strip() in allowed for choice in re.split(r"\s+OR\s+", part)) for part in parts)


def packages(folder: Path) -> tuple[set[str], list[dict]]:
    """Of a workspace: the names of the direct dependencies, and all crates from elsewhere."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)
    ours = [p for p in metadata["packages"] if p["source"] is None]
    direct = {d["name"] for p in ours if p["id"] in metadata["workspace_members"] for d in p["dependencies"] if not d.get("path")}
    return direct, [p for p in metadata["packages"] if p["source"] is not None]


def main() -> int:
    direct, crates = packages(ROOT)
    # The Ruby glue is a workspace of its own.
    ruby, more = packages(ROOT / "bindings" / "ruby")
    direct |= ruby
    crates += [p for p in more if p["id"] not in {known["id"] for known in crates}]
    # What the tests of the C library want is a package of the system.
    direct |= set(" ".join(re.findall(r"^\s+c\) .*missing\+=\(([^)]*)\)", (ROOT / "scripts" / "setup.sh").read_text(), re.MULTILINE)).split())
    lists = [ROOT / "python" / f"requirements-{kind}.txt" for kind in ("dev", "sam")]
    lists.append(ROOT / "scripts" / "packages" / "requirements.txt")
    requirements = "\n".join(path.read_text() for path in lists)
    direct |= {match[1] for match in re.finditer(r"^([\w-]+)(?:\[[\w-]+\])?[=<>]", requirements, re.MULTILINE)}
    poms = [ROOT / "java" / "pom.xml", ROOT / "kotlin" / "pom.xml", *(ROOT / "java" / "adapters").glob("**/pom.xml")]
    for file in poms:
        found = re.findall(r"<dependency>\s*<groupId>([^<]*)</groupId>\s*<artifactId>([^<]+)</artifactId>", file.read_text())
        direct |= {name for group, name in found if group != "org.openjobspec"}
    gemspecs = "".join(path.read_text() for path in (ROOT / "ruby").glob("adapters/*/*.gemspec"))
    direct |= {name for name in re.findall(r'add_(?:development_)?dependency "([\w-]+)"', gemspecs) if not name.startswith("ojs")}
    for module in (ROOT / "go").rglob("go.mod"):
        required = re.findall(r"^\s+(\S+) v\S+$", module.read_text(), re.MULTILINE)
        direct |= {re.sub(r"^github\.com/|/v\d+$", "", path) for path in required if "/openjobspec/" not in path}
    node = ROOT / "node"
    adapters = (node / "adapters").glob("ojs-adapter-*")
    node_packages = (node, node / "test" / "edge", *adapters, ROOT / "tests" / "dashboard")
    for file in (folder / "package.json" for folder in node_packages):
        package = json.loads(file.read_text())
        direct |= {name for kind in ("dependencies", "devDependencies") for name in package.get(kind, {})}
    vendored = (ROOT / "dashboard" / "vendor" / "VENDOR.toml").read_text()
    direct |= set(re.findall(r'^package = "([^"]+)"', vendored, re.MULTILINE))
    single = exceptions()
    known, allowed = documented(), allowed_licences()
    unexplained = [f"{name} has no line in docs/dependencies.md" for name in sorted(direct - known)]
    unexplained += [f"{name} is in docs/dependencies.md, but nothing depends on it" for name in sorted(known - direct)]
    forbidden = [f"{p['name']} {p['version']}: licence {p['license']} is not in deny.toml" for p in crates
                 if not acceptable(p["license"] or "none", allowed | single.get(p["name"], set()))]
    print("\n".join(unexplained + forbidden))
    print(f"{len(direct)} direct dependencies explained, {len(crates)} licences looked at")
    failed = bool(unexplained) + bool(forbidden)
    print(f"{2 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
