"""Each package, installed into an empty place, runs the first program of its README."""
from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from place import ROOT, Broken, Place, fifteen_lines, unpacked
from registry import Registry


def wheel(packages: Path) -> None:
    """pip, without an index."""
    with Place(packages) as place:
        # An environment of the system's interpreter, not of the one that runs this test.
        base = Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}")
        place.run(base, "-m", "venv", place.home / "venv")
        python = place.home / "venv" / "bin" / "python"
        place.run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--only-binary", ":all:",
                  "--find-links", place.packages / "python", "openjobspec")
        program = place.app / "mail.py"
        program.write_text(fifteen_lines(ROOT / "python" / "README.md"))
        place.works(python, "-u", program)
        place.refuses(program, lambda: place.tried(python, program))
        place.run(python, "-m", "pip", "check", "--disable-pip-version-check")


def npm(packages: Path) -> None:
    """npm, from a registry that has the main package and this platform's only."""
    with Place(packages, "node", "npm") as place, Registry(packages / "npm") as registry:
        place.run("npm", "install", "@openjobspec/sdk", "--registry", registry.url, "--no-audit", "--no-fund",
                  "--cache", place.home / "npm")
        scope = place.app / "node_modules" / "@openjobspec"
        installed = sorted(path.name for path in scope.iterdir())
        if len(installed) != 2:
            raise Broken(f"npm installed {installed}: the main package and one platform were expected")
        program = place.app / "mail.mjs"
        program.write_text(fifteen_lines(ROOT / "node" / "README.md"))
        place.works("node", program)
        place.refuses(program, lambda: place.tried("node", program))
        said = place.run("node", scope / "sdk" / "bin" / "ojs.cjs", "--version")
        if not said.strip():
            raise Broken("npx ojs --version says nothing")


def gems(packages: Path) -> None:
    """gem, from a file."""
    with Place(packages, "ruby", "gem") as place:
        gem = next(path for path in (place.packages / "gems").glob("ojs-*.gem") if "adapter" not in path.name)
        home = place.home / "gems"
        place.run("gem", "install", "--local", "--no-document", "--install-dir", home, gem)
        program, gems = place.app / "mail.rb", {"GEM_HOME": str(home), "GEM_PATH": str(home)}
        program.write_text("$stdout.sync = true\n" + fifteen_lines(ROOT / "ruby" / "README.md"))
        place.works("ruby", program, **gems)
        place.refuses(program, lambda: place.tried("ruby", program, **gems))


#: What the script `mvn` calls.
MAVEN = ("mvn", "dirname", "basename", "uname", "readlink", "expr", "ls", "cat", "sed", "cut", "tr", "which", "bash")


def maven(place: Place) -> list[str | Path]:
    """Maven with the packages as a repository, and all artifacts but ours from what this machine has downloaded."""
    local, own = Path.home() / ".m2" / "repository", place.home / "m2"
    (own / "org").mkdir(parents=True)
    for source, target in ((local, own), (local / "org", own / "org")):
        for path in source.iterdir():
            if path.name not in ("org", "openjobspec"):
                (target / path.name).symlink_to(path)
    (place.home / "settings.xml").write_text(
        "<settings><profiles><profile><id>ojs</id><repositories><repository><id>ojs-packages</id>"
        f"<url>file://{place.packages}/maven</url></repository></repositories></profile></profiles>"
        "<activeProfiles><activeProfile>ojs</activeProfile></activeProfiles></settings>")
    return ["mvn", "--batch-mode", "--quiet", "-s", place.home / "settings.xml", f"-Dmaven.repo.local={own}"]


def jdk() -> str:
    """The home of a JDK with FFM."""
    return subprocess.run([ROOT / "scripts" / "jdk.sh"], capture_output=True, text=True, check=True).stdout.strip()


def platform_of(packages: Path, artifact: str) -> str:
    """The classifier of the jar with the native half."""
    jars = (packages / "maven" / "org" / "openjobspec" / artifact).glob("*/*.jar")
    names = [path.stem.split("-", 3 if artifact == "ojs-kotlin" else 2)[-1] for path in jars]
    return next(name for name in names if name.startswith(("linux", "macos", "darwin")))


def java(packages: Path) -> None:
    """Maven compiles the program against the packages; the two jars run it."""
    with Place(packages, *MAVEN) as place:
        program = _project(place, "java", "Mail.java")
        classifier, home = platform_of(packages, "ojs"), jdk()
        compiled = [*maven(place), f"-Dojs.platform={classifier}", "compile"]
        place.run(*compiled, JAVA_HOME=home)
        # To compile, Maven takes the classes alone: the library is wanted when the program runs.
        jars = sorted((place.packages / "maven" / "org" / "openjobspec" / "ojs").glob(f"*/*[0-9]*{classifier}.jar"))
        jars += sorted((place.home / "m2" / "org" / "openjobspec" / "ojs").glob("*/*.jar"))
        path = ":".join(map(str, [place.app / "target" / "classes", *jars]))
        mail = (Path(home, "bin", "java"), "--enable-native-access=ALL-UNNAMED", "-cp", path, "Mail")
        place.works(*mail, statuses=JVM)

        def run() -> subprocess.CompletedProcess[str]:
            place.run(*compiled, JAVA_HOME=home)
            return place.tried(*mail)

        place.refuses(program, run)


def kotlin(packages: Path) -> None:
    """Maven compiles the program against the packages, and runs it with the classes and the library they bring."""
    with Place(packages, *MAVEN) as place:
        program, home = _project(place, "kotlin", "Mail.kt"), jdk()
        mail = [*maven(place), f"-Dojs.platform={platform_of(packages, 'ojs-kotlin')}", "compile", "exec:exec"]
        variables = {"JAVA_HOME": home, "PATH": f"{place.path}:{home}/bin"}
        place.works(*mail, statuses=JVM, **variables)
        place.refuses(program, lambda: place.tried(*mail, **variables))
    jar = next(path for path in (packages / "maven" / "org" / "openjobspec" / "ojs-kotlin").glob("*/*.jar")
               if path.stem == f"ojs-kotlin-{path.parent.name}")
    with zipfile.ZipFile(jar) as archive:
        # In the first the compiler finds functions outside of classes; the second names the module of the JVM.
        modules = [name for name in archive.namelist() if name.endswith(".kotlin_module")]
        manifest = archive.read("META-INF/MANIFEST.MF").decode()
    if len(modules) != 1 or "Automatic-Module-Name: org.openjobspec.kotlin" not in manifest:
        raise Broken(f"{jar.name} has {modules}, and the manifest\n{manifest}")


#: Exit statuses after Ctrl-C: of a program that returned first, and of a JVM that the signal ended.
JVM = (0, 130)


def _project(place: Place, language: str, name: str) -> Path:
    """The Maven project of the examples, with the first program of the README as its only source."""
    shutil.copy(ROOT / "examples" / language / "pom.xml", place.app)
    program = place.app / "src" / "main" / language / name
    program.parent.mkdir(parents=True)
    program.write_text(fifteen_lines(ROOT / language / "README.md"))
    return program


def go(packages: Path) -> None:
    """`go get` from a module proxy. The module is linked by cgo, so a C compiler is there; the repository is not."""
    with Place(packages, compiler=True) as place:
        program = shutil.which("go") or "/usr/local/go/bin/go"
        cache = subprocess.run([program, "env", "GOCACHE"], capture_output=True, text=True, check=True).stdout.strip()
        variables = {"GOPROXY": f"file://{place.packages}/go", "GONOSUMDB": "github.com/openjobspec/*",
                     "GOFLAGS": "-modcacherw", "GOMODCACHE": str(place.home / "modules"), "GOCACHE": cache,
                     "GOTOOLCHAIN": "local"}
        place.run(program, "mod", "init", "example.com/mail", **variables)
        source = place.app / "main.go"
        source.write_text(fifteen_lines(ROOT / "go" / "README.md"))
        place.run(program, "get", "github.com/openjobspec/ojs-go", **variables)
        place.run(program, "build", "-o", "mail", ".", **variables)
        place.works(place.app / "mail")

        def run() -> subprocess.CompletedProcess[str]:
            place.run(program, "build", "-o", "mail", ".", **variables)
            return place.tried(place.app / "mail")

        place.refuses(source, run)


def c(packages: Path) -> None:
    """pkg-config and CMake, shared and static. The program is compiled here; the repository is hidden."""
    with Place(packages, compiler=True) as place:
        prefix = unpacked(next((place.packages / "c").glob("*.tar.gz")), place.home / "prefix")
        shutil.copy(prefix / "share" / "doc" / "ojs-c" / "mail.c", place.app)
        found = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib")}
        flags = place.run("pkg-config", "--cflags", "--libs", "ojs", **found).split()
        place.run("cc", "mail.c", *flags, "-o", "shared", **found)
        static = [f"-I{prefix}/include", f"{prefix}/lib/libojs.a", "-lpthread", "-ldl", "-lm"]
        place.run("cc", "mail.c", *static, "-o", "static")
        _mailed(place.run(place.app / "shared", "sqlite:jobs.db", **found))
        place.completed()
        _mailed(place.run(place.app / "static", "memory:"))
        mistyped = place.tried(place.app / "static", "jobs.db")
        if mistyped.returncode == 0 or "sqlite:jobs.db" not in mistyped.stdout:
            raise Broken(f"with jobs.db, exit status {mistyped.returncode}:\n{mistyped.stdout}")
        (place.app / "CMakeLists.txt").write_text(CMAKE)
        place.run("cmake", "-S", ".", "-B", "made", f"-DCMAKE_PREFIX_PATH={prefix}")
        place.run("cmake", "--build", "made")
        _mailed(place.run(place.app / "made" / "mail", "memory:"))
        _mailed(place.run(place.app / "made" / "mail-static", "memory:"))


CMAKE = """cmake_minimum_required(VERSION 3.16)
project(mail C)
find_package(ojs 0.1 REQUIRED)
add_executable(mail mail.c)
target_link_libraries(mail PRIVATE ojs::ojs)
add_executable(mail-static mail.c)
target_link_libraries(mail-static PRIVATE ojs::static)
"""


def _mailed(said: str) -> None:
    if "email.send, attempt 1" not in said:
        raise Broken(f"the program printed\n{said}")
