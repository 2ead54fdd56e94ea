"""scripts/packages: what differs between two folders of packages is named, down to members of archives."""
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts" / "packages"))

import archive  # noqa: E402
import compare  # noqa: E402
import twice  # noqa: E402

from tracked import tracked  # noqa: E402


def tar(files: dict[str, bytes], time: int = 0) -> bytes:
    """An archive in the order of the names as they are given."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as made:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(data), time
            made.addfile(entry, io.BytesIO(data))
    return raw.getvalue()


class Compare(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def both(self, name: str, one: bytes | None, other: bytes | None) -> tuple[int, list[str]]:
        """What is said of two folders with one file each."""
        for folder, data in (("one", one), ("other", other)):
            (self.folder / folder).mkdir(exist_ok=True)
            if data is not None:
                (self.folder / folder / name).write_bytes(data)
        return compare.compared(self.folder / "one", self.folder / "other")

    def test_equal_files_are_counted(self) -> None:
        self.assertEqual(self.both("x.jar", b"same", b"same"), (1, []))

    def test_a_file_that_only_one_run_has_written_is_named(self) -> None:
        equal, lines = self.both("x.jar", None, b"1")
        self.assertEqual((equal, lines), (0, [f"x.jar: only in {self.folder}/other"]))

    def test_the_member_of_an_archive_inside_of_an_archive_is_named(self) -> None:
        inside = [tar({"lib/ojs.rb": text, "a": b""}) for text in (b"abc", b"abd")]
        gems = [tar({"data.tar.gz": gzip.compress(data, mtime=0)}) for data in inside]
        self.assertEqual(self.both("x.gem", *gems)[1],
                         ["x.gem > data.tar.gz > lib/ojs.rb: 3 and 3 bytes, the first difference at 2"])

    def test_the_time_of_a_member_is_a_difference(self) -> None:
        lines = self.both("x.tar", tar({"a": b"1"}, time=1), tar({"a": b"1"}, time=2))[1]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], "^x.tar > a: time 1, .* and time 2, ")

    def test_the_time_of_a_compressed_file_is_a_difference(self) -> None:
        lines = self.both("x.gz", gzip.compress(b"1", mtime=1), gzip.compress(b"1", mtime=2))[1]
        self.assertRegex(lines[0], "^x.gz: head 1f8b08000100.* and head 1f8b08000200")

    def test_the_order_of_members_is_a_difference(self) -> None:
        both = [tar({"a": b"1", "b": b"2"}), tar({"b": b"2", "a": b"1"})]
        self.assertEqual(self.both("x.tar", *both)[1], ["x.tar: the same members, in another order"])

    def test_the_strength_of_a_compression_is_a_difference(self) -> None:
        files = {"a": archive.text("some text, some text, some text\n" * 200)}
        zips = [archive.write_zip(self.folder / f"{level}.zip", files, level).read_bytes() for level in (1, 9)]
        self.assertEqual(self.both("x.zip", *zips)[1], ["x.zip: the same members, packed in another way"])

    @unittest.skipUnless(shutil.which("cc") and shutil.which("ar") and sys.platform == "linux", "no compiler of Linux")
    def test_sections_of_programs_in_a_static_library_are_named(self) -> None:
        names, libraries = ("brief", "a_file_with_a_long_name"), []
        for number in (1, 2):
            place = self.folder / str(number)
            place.mkdir()
            for name in names:
                (place / f"{name}.c").write_text(f"const int {name} = {number};\n")
            subprocess.run(["cc", "-c", *(f"{name}.c" for name in names)], cwd=place, check=True)
            subprocess.run(["ar", "rcD", "x.a", *(f"{name}.o" for name in names)], cwd=place, check=True)
            libraries.append((place / "x.a").read_bytes())
        self.assertEqual(self.both("x.a", *libraries)[1],
                         [f"x.a > {name}.o > .rodata: 4 and 4 bytes, the first difference at 0"
                          for name in sorted(names)])

    def test_two_empty_folders_are_no_proof(self) -> None:
        with self.assertRaisesRegex(SystemExit, "0 files are equal"):
            twice.judge(self.folder, self.folder)

    def test_the_second_checkout_has_the_same_files_elsewhere(self) -> None:
        with twice.elsewhere() as copy:
            self.assertEqual(tracked(copy), tracked(ROOT))
            self.assertTrue(os.access(copy / "scripts" / "setup.sh", os.X_OK))
            self.assertNotEqual(len(str(copy)), len(str(ROOT)))
        self.assertFalse(copy.exists())


if __name__ == "__main__":
    unittest.main()
