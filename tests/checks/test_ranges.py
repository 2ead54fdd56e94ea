"""tests/ranges: what an adapter declares as its oldest version of a framework is what a row installs."""
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests" / "ranges"))

from rows import ROWS  # noqa: E402

#: Declared by name and lower bound in the metadata of the Python adapters.
FRAMEWORKS = ("Django", "SQLAlchemy", "Flask", "fastapi")


def versions_of(language: str, adapter: str, package: str) -> list[str]:
    """The versions of a package in the rows of an adapter. `express4` is another name for a second Express."""
    rows = [row for row in ROWS if (row.language, row.adapter) == (language, adapter)]
    return [version.rpartition("@")[2] for row in rows for name, version in (row.versions | row.beside).items()
            if name.rstrip("4") == package]


class Ranges(unittest.TestCase):
    def test_of_python(self) -> None:
        for path in sorted((ROOT / "python" / "adapters").glob("*/pyproject.toml")):
            text = path.read_text()
            adapter = path.parent.name.removeprefix("ojs-adapter-")
            for package, bound in re.findall(rf'"({"|".join(FRAMEWORKS)})(?:\[\w+\])?>=([\d.]+)"', text):
                with self.subTest(adapter=adapter, package=package):
                    versions = versions_of("python", adapter, package)
                    self.assertTrue(any(version.startswith(bound) for version in versions), f"{bound}: {versions}")

    def test_of_node(self) -> None:
        for path in sorted((ROOT / "node" / "adapters").glob("*/package.json")):
            declared = json.loads(path.read_text())["peerDependencies"]
            for package, bound in declared.items():
                if package in ("@openjobspec/sdk", "rxjs"):
                    continue
                with self.subTest(adapter=path.parent.name, package=package):
                    versions = versions_of("node", path.parent.name.removeprefix("ojs-adapter-"), package)
                    self.assertIn(bound.removeprefix(">="), versions)

    def test_of_java(self) -> None:
        readme = (ROOT / "java" / "adapters" / "ojs-adapter-spring-boot-starter" / "README.md").read_text()
        [version] = versions_of("java", "spring-boot-starter", "spring-boot.version")
        self.assertIn(f"Spring Boot {version.rpartition('.')[0]} and later", readme)

    def test_names_are_of_the_versions(self) -> None:
        for row in ROWS:
            versions = [version.rpartition("@")[2] for version in row.versions.values()]
            self.assertTrue(any(version.startswith(row.name.rpartition("-")[2]) for version in versions), row.name)
