"""The jars of Java and of Kotlin, laid out as a Maven repository."""
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

from archive import Content, Files, lay, text, write_zip
from checkout import ROOT, VERSION, sources
from context import Context
from natives import LIBRARIES, run

MANIFEST = "Manifest-Version: 1.0\r\nEnable-Native-Access: ALL-UNNAMED\r\n\r\n"


def rewritten(jar: Path, more: Files) -> Files:
    """The content of a jar that Maven has made, without what names the day and the path, and more beside it."""
    with zipfile.ZipFile(jar) as archive:
        files = {name: Content(archive.read(name)) for name in archive.namelist() if not name.endswith("/")}
    return {name: content for name, content in files.items() if not name.endswith("pom.properties")} | more


@dataclass(frozen=True)
class Artifact:
    """One artifact of Maven, whose native half is a jar of its own with a classifier."""

    language: str  # the folder in the repository
    name: str
    package: str  # of cargo
    classifier: str
    inside: str  # the path of the library in its jar

    @property
    def file(self) -> str:
        """The name that all files begin with."""
        return f"{self.name}-{VERSION}"


def write(context: Context, artifact: Artifact) -> list[Path]:
    """Classes, sources, the native half and the pom; with checksums as Maven has them."""
    home, stem = ROOT / artifact.language, artifact.file
    place = context.out / "maven" / "org" / "openjobspec" / artifact.name / VERSION
    native = Content(context.natives.shared(LIBRARIES[artifact.package]), executable=True)
    licence = {"META-INF/LICENSE": Content(ROOT / "LICENSE")}
    code = {path.removeprefix("src/main/").partition("/")[2]: content
            for path, content in sources(artifact.language, "src/main/").items()}
    manifest = {"META-INF/MANIFEST.MF": text(MANIFEST)}
    made = [
        write_zip(place / f"{stem}.jar", rewritten(classes(context, artifact), licence)),
        write_zip(place / f"{stem}-sources.jar", manifest | code | licence),
        write_zip(place / f"{stem}-{artifact.classifier}.jar",
                  manifest | {artifact.inside: native} | context.licences(artifact.package, "META-INF/")),
        place / f"{stem}.pom",
    ]
    made[-1].write_bytes((home / "pom.xml").read_bytes())
    for path in made:
        for kind in ("md5", "sha1"):
            Path(f"{path}.{kind}").write_text(hashlib.new(kind, path.read_bytes()).hexdigest())
    return made


def classes(context: Context, artifact: Artifact) -> Path:
    """The jar of the classes. With OJS_BUILT, the one that the tests were made with; else Maven makes it of a copy."""
    language = artifact.language
    jar = ROOT / language / "target" / f"{artifact.file}.jar"
    if os.environ.get("OJS_BUILT") and jar.is_file():
        return jar
    # A copy has no classes of sources that are gone.
    home = context.stage / language
    shutil.rmtree(home, ignore_errors=True)
    lay(home, sources(language, "pom.xml", "src/main/"))
    if language == "kotlin":
        library = context.natives.built("libojs_uniffi." + context.platform.extension)
        run(context.natives.built("xtask"), "bindings", "kotlin", library, home / "target" / "uniffi")
    script = '. scripts/maven.sh; cd "$1"; maven -Dmaven.test.skip=true package'
    done = subprocess.run(["bash", "-euc", script, "bash", home], cwd=ROOT, capture_output=True, text=True,
                          env=os.environ | {"platform": "none"})
    if done.returncode != 0:
        raise SystemExit(f"packages: Maven in {language}\n{done.stdout}{done.stderr}")
    return home / "target" / jar.name


def java(context: Context) -> list[Path]:
    """Writes org.openjobspec:ojs."""
    platform = context.platform
    if not platform.java:
        return []
    inside = f"org/openjobspec/native/{platform.java}/libojs.{platform.extension}"
    return write(context, Artifact("java", "ojs", "ojs-c", platform.java, inside))


def kotlin(context: Context) -> list[Path]:
    """Writes org.openjobspec:ojs-kotlin."""
    platform = context.platform
    if not platform.kotlin:
        return []
    inside = f"{platform.kotlin}/libojs_uniffi.{platform.extension}"
    return write(context, Artifact("kotlin", "ojs-kotlin", "ojs-uniffi", platform.kotlin, inside))
