"""scripts/packages: archives, versions and the floor of glibc. What is in real packages is tested by tests/packages."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts" / "packages"))

import archive  # noqa: E402
import floor  # noqa: E402
import release  # noqa: E402
import versions  # noqa: E402
from checkout import VERSION  # noqa: E402
from gomodule import gather  # noqa: E402

NEEDS = """
Version symbols section '.gnu.version' contains 3 entries:
Version definition section '.gnu.version_d' contains 1 entry:
  0x0000: Rev: 1  Flags: BASE  Index: 1  Cnt: 1  Name: GLIBC_2.99
Version needs section '.gnu.version_r' contains 2 entries:
  0x0000: Version: 1  File: libc.so.6  Cnt: 2
  0x0010:   Name: GLIBC_2.2.5  Flags: none  Version: 4
  0x0020:   Name: GLIBC_2.34  Flags: none  Version: 3
  0x0030: Version: 1  File: libgcc_s.so.1  Cnt: 1
  0x0040:   Name: GCC_3.0  Flags: none  Version: 2
"""


class Folders(unittest.TestCase):
    """Tests with a folder of their own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Floor(unittest.TestCase):
    def test_only_versions_that_the_file_needs_count(self) -> None:
        self.assertEqual(floor.asked(NEEDS), {"GLIBC_2.2.5": (2, 2, 5), "GLIBC_2.34": (2, 34)})

    def test_versions_are_compared_as_numbers(self) -> None:
        self.assertEqual(max(floor.asked(NEEDS.replace("2.34", "2.4")).values()), (2, 4))
        self.assertEqual(max(floor.asked(NEEDS).values()), (2, 34))

    def test_a_program_of_this_machine_is_refused_by_a_floor_below_it(self) -> None:
        program = Path(sys.executable).resolve()
        if sys.platform != "linux" or floor.floor(program) < (2, 3):
            self.skipTest("no program of glibc")
        with self.assertRaisesRegex(floor.TooNew, "newer glibc than 2.2|which a bare machine lacks"):
            floor.check(program, (2, 2))


class Archives(Folders):
    FILES = {"b/run": archive.Content(b"#!/bin/sh\n", executable=True), "a": archive.text("text\n")}

    def test_the_day_and_the_order_are_not_in_the_bytes(self) -> None:
        shuffled = dict(reversed(list(self.FILES.items())))
        for write, name in ((archive.write_zip, "x.zip"), (archive.write_tar_gz, "x.tar.gz")):
            first = write(self.folder / name, self.FILES).read_bytes()
            self.assertEqual(first, write(self.folder / "again" / name, shuffled).read_bytes())
            self.assertNotEqual(first, write(self.folder / name, self.FILES | {"c": archive.text("")}).read_bytes())

    def test_programs_stay_executable(self) -> None:
        with zipfile.ZipFile(archive.write_zip(self.folder / "x.zip", self.FILES)) as made:
            self.assertEqual(made.getinfo("b/run").external_attr >> 16, 0o100755)

    def test_folders_that_were_there_keep_their_time(self) -> None:
        (self.folder / "other").mkdir()
        os.utime(self.folder / "other", (1, 1))
        archive.lay(self.folder, self.FILES)
        self.assertEqual((self.folder / "other").stat().st_mtime, 1)
        self.assertEqual((self.folder / "b").stat().st_mtime, archive.EPOCH)


class Modules(Folders):
    def module(self, name: str, files: dict[str, str]) -> Path:
        inside = {f"example.com/m@v1.0.0/{path}": archive.text(text) for path, text in files.items()}
        return archive.write_zip(self.folder / name, inside)

    def test_the_libraries_of_all_platforms_are_in_one_module(self) -> None:
        both = [self.module("a.zip", {"m.go": "same", "lib/linux_amd64/libojs.a": "1"}),
                self.module("b.zip", {"m.go": "same", "lib/linux_arm64/libojs.a": "2"})]
        with zipfile.ZipFile(gather(both, self.folder / "out.zip")) as made:
            self.assertEqual([name.partition("/v1")[0].split("@v1.0.0/")[1] for name in made.namelist()],
                             ["lib/linux_amd64/libojs.a", "lib/linux_arm64/libojs.a", "m.go"])

    def test_modules_of_different_sources_are_refused(self) -> None:
        both = [self.module("a.zip", {"m.go": "old"}), self.module("b.zip", {"m.go": "new"})]
        with self.assertRaisesRegex(SystemExit, "m.go.*one commit"):
            gather(both, self.folder / "out.zip")


class Releases(Folders):
    def platform(self, name: str, files: dict[str, str]) -> Path:
        """The packages of one platform."""
        for path, content in files.items():
            (self.folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name / path).write_text(content)
        release.sums(self.folder / name)
        return self.folder / name

    def checked(self, folder: Path) -> None:
        """`sha256sum` finds every file as SHA256SUMS says, and there is no file besides."""
        command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        named = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(named, there - {"SHA256SUMS"})

    def test_a_file_that_all_platforms_have_is_the_first_ones(self) -> None:
        folders = [self.platform("one", {"gems/adapter.gem": "first", "gems/one.gem": "1"}),
                   self.platform("two", {"gems/adapter.gem": "second", "gems/two.gem": "2"})]
        release.gather(self.folder / "out", folders)
        self.assertEqual({path.name: path.read_text() for path in (self.folder / "out" / "gems").iterdir()},
                         {"adapter.gem": "first", "one.gem": "1", "two.gem": "2"})
        self.checked(self.folder / "out")

    def test_the_sums_of_a_release_name_the_files_as_they_are_downloaded(self) -> None:
        packages = self.platform("out", {"python/x.whl": "wheel", "maven/org/x.jar": "jar", "maven/org/x.pom": "pom",
                                         "go/x.zip": "zip"})
        release.assets(self.folder / "assets", packages)
        self.assertEqual(sorted(path.name for path in (self.folder / "assets").iterdir()),
                         ["SHA256SUMS", f"ojs-go-{VERSION}.tar.gz", f"ojs-maven-{VERSION}.tar.gz", "x.whl"])
        self.checked(self.folder / "assets")
        with tarfile.open(self.folder / "assets" / f"ojs-maven-{VERSION}.tar.gz") as made:
            self.assertEqual(made.getnames(), ["maven/org/x.jar", "maven/org/x.pom"])

    def test_two_files_of_one_name_are_refused(self) -> None:
        packages = self.platform("out", {"python/x": "1", "npm/x": "2"})
        with self.assertRaisesRegex(SystemExit, "two files are called x"):
            release.assets(self.folder / "assets", packages)


class Versions(Folders):
    def setUp(self) -> None:
        super().setUp()
        for pattern, _ in [*versions.PLACES, ("CHANGELOG.md", "")]:
            for file in ROOT.glob(pattern):
                copy = self.folder / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)

    def test_a_new_version_reaches_every_place(self) -> None:
        versions.write("7.8.9-rc.1", self.folder)
        seen, wrong = versions.differing(self.folder)
        self.assertEqual((wrong, versions.version(self.folder)), ([], "7.8.9-rc.1"))
        self.assertGreater(seen, 20)
        self.assertIn("## Unreleased\n\n## 7.8.9-rc.1\n", (self.folder / "CHANGELOG.md").read_text())

    def test_a_place_that_was_forgotten_is_named(self) -> None:
        pom = self.folder / "kotlin" / "pom.xml"
        now = f"<version>{versions.version()}</version>"
        pom.write_text(pom.read_text().replace(now, "<version>9.9.9</version>", 1))
        self.assertIn("kotlin/pom.xml: 9.9.9", versions.differing(self.folder)[1][0])

    def test_what_is_no_version_is_refused(self) -> None:
        before = (self.folder / "Cargo.toml").read_text()
        with self.assertRaisesRegex(SystemExit, "1.2 is no version"):
            versions.write("1.2", self.folder)
        self.assertEqual(before, (self.folder / "Cargo.toml").read_text())
