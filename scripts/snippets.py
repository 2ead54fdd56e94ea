#!/usr/bin/env python3
"""Runs the examples of the documentation: every ```python, ```js, ```ruby, ```java, ```kotlin and ```sh block
of README.md, docs/, and the README.md of python/, node/, ruby/, java/ and kotlin/.

Each block is a program of its own, in an empty directory, with OJS_URL naming a fresh server and `ojs` on the path. It must end
with status 0. A Python block that begins with `# test_…` is run by pytest. A block that runs until it is told to stop is announced by a comment in the line before it:

    <!-- until: TEXT -->      it must print TEXT; then it gets SIGTERM, and must end with status 0
    <!-- from: FILE -->       it is not run here: it must be a part of this file, line for line, which a test runs

Commands that build (`make …`, `cargo …`) are not run again here: `make test` has done so. Rust blocks are tested by rustdoc, Go programs by scripts/go.sh test.
"""
import argparse
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?:<!-- until: (?P<until>.+?) -->\n)?```(?P<language>python|js|ruby|java|kotlin|sh)\n"
                   r"(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
#: A block of any language that is a part of a file.
EXCERPT = re.compile(r"^<!-- from: (?P<source>.+?) -->\n```\w+\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
#: Seconds. A program that needs longer hangs; the worst of them compiles itself on a machine that does much else.
PATIENCE = 180


@dataclass
class Snippet:
    """One block."""

    place: str
    language: str
    code: str
    until: str | None


def snippets(page: Path) -> list[Snippet]:
    """The blocks of a page, named by file and line."""
    # Excerpts are no programs: blank lines keep the numbers of the lines behind them.
    text = EXCERPT.sub(lambda match: "\n" * match[0].count("\n"), page.read_text())
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        found.append(Snippet(f"{page.relative_to(ROOT)}:{line}", match["language"], match["code"], match["until"]))
    return found


def excerpts(page: Path) -> list[tuple[str, str]]:
    """The excerpts of a page, by file and line, and what is wrong with each, or nothing."""
    text = page.read_text()
    found = []
    for match in EXCERPT.finditer(text):
        place = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start('code')) + 1}"
        source = ROOT / match["source"]
        is_part = source.is_file() and f"\n{match['code']}" in f"\n{source.read_text()}"
        found.append((place, "" if is_part else f"is no part of {match['source']}"))
    return found


@functools.cache
def sqlite_driver() -> Path:
    """SQLite for Java, of the version that the adapters' tests have (Spring Boot names it)."""
    version = "3.49.1.0"
    repository = Path(os.environ.get("MAVEN_REPOSITORY", Path.home() / ".m2" / "repository"))
    jar = repository / "org" / "xerial" / "sqlite-jdbc" / version / f"sqlite-jdbc-{version}.jar"
    if not jar.exists():
        artifact = f"-Dartifact=org.xerial:sqlite-jdbc:{version}"
        subprocess.run(["mvn", "--batch-mode", "--quiet", "dependency:get", artifact, "-Dtransitive=false"], check=True)
    return jar


@functools.cache
def jdk() -> str:
    """The home of the JDK."""
    return subprocess.run([ROOT / "scripts" / "jdk.sh"], check=True, capture_output=True, text=True).stdout.strip()


@functools.cache
def telemetry() -> list[Path]:
    """The OpenTelemetry API for Java and Kotlin, which the builds of the packages have fetched."""
    pom = (ROOT / "java" / "pom.xml").read_text()
    version = re.findall(r"<artifactId>opentelemetry-api</artifactId>\s*<version>([^<]+)<", pom)[0]
    home = Path(os.environ.get("MAVEN_REPOSITORY", Path.home() / ".m2" / "repository")) / "io" / "opentelemetry"
    names = [f"opentelemetry-{part}" for part in ("api", "common", "context")]
    return [home / name / version / f"{name}-{version}.jar" for name in names]


def java(code: str) -> list[str]:
    """A class with a main, or the inside of one."""
    if "static void main" not in code:
        imports = "import java.time.*; import java.util.*; import org.openjobspec.*;"
        more = "".join(re.findall(r"^import .*;\n", code, re.MULTILINE))
        imports, code = imports + more.replace("\n", " "), re.sub(r"^import .*;\n", "", code, flags=re.MULTILINE)
        code = f"{imports} public class Snippet {{ public static void main(String[] args) throws Exception {{\n{code}\n}} }}"
    built = sorted((ROOT / "java" / "target").glob("ojs-*.jar"))
    jars = os.pathsep.join(map(str, [*built, sqlite_driver(), *telemetry()]))
    # exec: the signal must reach the program, not the shell.
    script = 'cat > Snippet.java <<<"$1"; exec "$2/bin/java" --enable-native-access=ALL-UNNAMED -cp "$3" Snippet.java'
    return ["bash", "-euc", script, "bash", code, jdk(), jars]


@functools.cache
def kotlin_jars() -> str:
    """The package with what it needs, the compiler, SQLite, and OpenTelemetry, which programs bring themselves."""
    command = [ROOT / "benches" / "kotlin" / "run.sh", "classpath"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return os.pathsep.join([listed.strip(), *map(str, [sqlite_driver(), *telemetry()])])


def kotlin(code: str) -> list[str]:
    """A file with a main, or the inside of one, which may suspend."""
    if "fun main(" not in code:
        imports = "import kotlin.time.Duration.Companion.minutes; import kotlin.time.Duration.Companion.seconds\n"
        imports += "import kotlinx.coroutines.runBlocking; import org.openjobspec.kotlin.*\n"
        imports += "".join(re.findall(r"^import .*\n", code, re.MULTILINE))
        inside = re.sub(r"^import .*$", "", code, flags=re.MULTILINE)
        code = f"{imports}fun main(): Unit = runBlocking {{\n{inside}\nUnit }}"
    # JDK 22 does not know the option about memory.
    script = """cat > Snippet.kt <<<"$1"
"$2/bin/java" -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow -cp "$3" \\
    org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -jvm-target 17 -no-stdlib -no-reflect -nowarn \\
    -cp "$3" -d classes Snippet.kt
exec "$2/bin/java" --enable-native-access=ALL-UNNAMED -cp "classes:$3" SnippetKt"""
    return ["bash", "-euc", script, "bash", code, jdk(), kotlin_jars()]


def command(snippet: Snippet, ojs: Path) -> list[str]:
    """How to run it. Building is left out, and a server started by cargo is the one that was built."""
    if snippet.language == "python" and snippet.code.startswith("# test_"):
        # A file of tests: python -c would define them and run none.
        return [sys.executable, "-c", "import pathlib, sys, pytest; pathlib.Path('test_it.py').write_text(sys.argv[1]); "
                "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', 'test_it.py']))", snippet.code]
    if snippet.language == "python":
        return [sys.executable, "-c", snippet.code]
    if snippet.language == "java":
        return java(snippet.code)
    if snippet.language == "kotlin":
        return kotlin(snippet.code)
    if snippet.language == "ruby":
        return ["ruby", "-I", str(ROOT / "ruby" / "lib"), "-e", "$stdout.sync = true", "-e", snippet.code]
    if snippet.language == "js":
        return ["node", "--input-type=module", "-e", snippet.code]
    code = re.sub(r"cargo run --release -p ojs-cli --", "ojs", snippet.code)
    code = re.sub(r"^make .*$", ":", code, flags=re.MULTILINE)
    # exec: the signal must reach the program, not the shell.
    return ["bash", "-euc", f"exec {code}" if snippet.until else code]


def environment(ojs: Path, url: str) -> dict[str, str]:
    """A clean one: what the user has set must not decide."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OJS_")}
    path = f"{ojs.parent}{os.pathsep}{kept.get('PATH', '')}"
    return kept | {"OJS_URL": url, "PATH": path, "PYTHONUNBUFFERED": "1", "OJS_LISTEN": "127.0.0.1:0"}


def run(snippet: Snippet, ojs: Path, url: str) -> str:
    """Runs it; returns what is wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder, "node_modules", "@openjobspec")
        packages.mkdir(parents=True)
        (packages / "sdk").symlink_to(ROOT / "node")
        (packages.parent / "better-sqlite3").symlink_to(ROOT / "node" / "adapters" / "node_modules" / "better-sqlite3")
        process = subprocess.Popen(command(snippet, ojs), cwd=folder, env=environment(ojs, url), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        clock = threading.Timer(PATIENCE, process.kill)
        clock.start()
        output, seen = "", snippet.until is None
        assert process.stdout is not None
        for line in process.stdout:
            output += line
            if not seen and snippet.until is not None and snippet.until in line:
                seen = True
                process.send_signal(signal.SIGTERM)
        status = process.wait()
        clock.cancel()
    if not seen:
        return f"never printed {snippet.until!r}\n{output}"
    return f"exit status {status}\n{output}" if status else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ojs", type=Path, required=True, help="the binary")
    options = parser.parse_args()
    ojs = options.ojs.resolve()
    server = subprocess.Popen([ojs, "server", "--store", "memory:", "--listen", "127.0.0.1:0", "--log-level", "error"],
                              stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().removeprefix("listening on ").strip()
    pages = [ROOT / "README.md", ROOT / "python" / "README.md", ROOT / "node" / "README.md", ROOT / "ruby" / "README.md",
             ROOT / "java" / "README.md", ROOT / "kotlin" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    checked = [(place, wrong) for page in pages for place, wrong in excerpts(page)]
    for place, wrong in checked:
        print(f"{'FAILED' if wrong else 'ok':<6} {place} {wrong}", flush=True)
    failed = sum(bool(wrong) for _, wrong in checked)
    passed = len(checked) - failed
    try:
        for snippet in (snippet for page in pages for snippet in snippets(page)):
            wrong = run(snippet, ojs, url)
            print(f"{'FAILED' if wrong else 'ok':<6} {snippet.place} {wrong}", flush=True)
            passed, failed = passed + (not wrong), failed + bool(wrong)
    finally:
        server.terminate()
        server.wait()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
