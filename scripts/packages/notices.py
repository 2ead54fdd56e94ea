"""What other projects' code is in the binaries: their licences, and the list of components (SBOM, CycloneDX 1.5)."""
from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checkout import ROOT

#: Files of a crate that hold its licence or what the licence asks to be passed on.
LICENCE = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)")

#: What is compiled in without being a crate of its own.
INSIDE = {
    "libsqlite3-sys": "SQLite is inside. It is in the public domain: https://sqlite.org/copyright.html",
    "libmimalloc-sys": "mimalloc is inside. Copyright (c) Microsoft Corporation, Daan Leijen. MIT.",
}
HEAD = """Third-party notices

{package} contains the Rust standard library (MIT OR Apache-2.0, https://rust-lang.org) and the crates below.
Each is used under its licence; where a crate offers a choice, under the first that LICENSE or the texts below meet.
"""


@dataclass(frozen=True)
class Crate:
    """One crate that is compiled into a binary."""

    name: str
    version: str
    licence: str
    folder: Path
    repository: str
    checksum: str

    @property
    def purl(self) -> str:
        """The package URL."""
        return f"pkg:cargo/{self.name}@{self.version}"

    def texts(self) -> list[tuple[str, str]]:
        """Names and texts of its licence files."""
        files = sorted(path for path in self.folder.iterdir() if path.is_file() and LICENCE.match(path.name))
        return [(path.name, path.read_text(errors="replace").strip()) for path in files]


@cache
def _metadata(triple: str) -> dict[str, dict]:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
    packages = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)["packages"]
    return {f"{package['name']} {package['version']}": package for package in packages}


@cache
def _checksums() -> dict[str, str]:
    lock = (ROOT / "Cargo.lock").read_text()
    found = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = .*\nchecksum = "(.+)"', lock)
    return {f"{name} {version}": checksum for name, version, checksum in found}


@cache
def crates(package: str, triple: str) -> tuple[Crate, ...]:
    """The crates from elsewhere that are compiled into a package for a target, by name."""
    # Proc macros run in the compiler and are in no binary.
    command = ["cargo", "tree", "--locked", "-p", package, "--target", triple, "-e", "normal,no-proc-macro",
               "--prefix", "none", "--format", "{p}"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = set(re.findall(r"^(\S+) v(\S+?)(?: \(\*\))?$", listed, re.MULTILINE))
    made = []
    for name, version in sorted(found):
        known = _metadata(triple)[f"{name} {version}"]
        made.append(Crate(name, version, known["license"] or "", Path(known["manifest_path"]).parent,
                          known["repository"] or "", _checksums().get(f"{name} {version}", "")))
    return tuple(made)


def third_party(package: str, triple: str) -> str:
    """The notices for one binary. Equal texts are printed once, with the crates that they belong to."""
    texts: dict[str, list[str]] = {}
    parts = [HEAD.format(package=package)]
    for crate in crates(package, triple):
        found = crate.texts()
        more = "" if found else f"; the crate has no licence file, see {crate.repository}"
        parts.append(f"{crate.name} {crate.version}: {crate.licence}{more}")
        if crate.name in INSIDE:
            parts.append(f"    {INSIDE[crate.name]}")
        for name, content in found:
            texts.setdefault(content, []).append(f"{crate.name} ({name})")
    for content, owners in texts.items():
        parts += ["", "-" * 100, ", ".join(owners), "", content]
    return "\n".join(parts) + "\n"


def sbom(package: str, triple: str, version: str) -> str:
    """The components of one binary in CycloneDX's form. No time and no serial number: equal sources, equal bytes."""
    components = [_component(crate) for crate in crates(package, triple)]
    name = "ojs" if package == "ojs-cli" else package
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application" if package == "ojs-cli" else "library", "bom-ref": name,
                                   "name": name, "version": version, "licenses": [{"expression": "Apache-2.0"}]},
                     "properties": [{"name": "cargo:target", "value": triple}]},
        "components": components,
    }
    return json.dumps(document, indent=2) + "\n"


def _component(crate: Crate) -> dict[str, object]:
    component: dict[str, object] = {"type": "library", "bom-ref": crate.purl, "name": crate.name,
                                    "version": crate.version, "purl": crate.purl}
    if crate.licence:
        # Older crates write a slash where SPDX wants OR.
        component["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", crate.licence)}]
    if crate.checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
    if crate.repository.startswith("http"):
        component["externalReferences"] = [{"type": "vcs", "url": crate.repository}]
    return component
