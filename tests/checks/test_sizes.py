"""scripts/sizes.py: files and lines that are too long are found."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import sizes

LONG = "x = 1  # " + "a word " * 20 + "\n"


class Sizes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def wrong(self, **exceptions: int) -> list[str]:
        return sizes.check(self.root, {f"{name}.py": most for name, most in exceptions.items()})[0]

    def test_a_file_of_more_than_500_lines_needs_an_exception_that_only_shrinks(self) -> None:
        self.write("big.py", "x = 1\n" * 501)
        self.write("fits.py", "x = 1\n" * 500)
        self.assertEqual(self.wrong(), ["big.py: 501 lines; split it by noun, 500 is the most"])
        self.assertEqual(self.wrong(big=501), [])
        self.write("big.py", "x = 1\n" * 502)
        self.assertIn("501 were allowed", self.wrong(big=501)[0])
        self.write("big.py", "x = 1\n" * 499)
        self.assertIn("take it out of EXCEPTIONS", self.wrong(big=501)[0])
        self.assertIn("does not exist", self.wrong(gone=600)[0])

    def test_a_function_of_more_than_60_lines_is_found(self) -> None:
        body = {"py": "    x = 1\n", "rs": "    call();\n", "go": "\tcall()\n", "rb": "  call\n"}
        form = {
            "py": "def one(\n    a: int,\n) -> None:\n{}\n\ndef next() -> None:\n    pass\n",
            "rs": "trait T {{\n    fn declared(\n        &self,\n    );\n}}\n\npub(crate) async fn one() {{\n{}}}\n",
            "go": "func (t *T) one() {{\n{}}}\n",
            "rb": "def one(a)\n{}end\n\ndef short = call\n",
        }
        head = {"py": 3, "rs": 2, "go": 2, "rb": 2}
        for ending, text in form.items():
            most = 60 - head[ending]
            self.write(f"a.{ending}", text.format(body[ending] * most))
            self.assertEqual(self.wrong(), [], ending)
            self.write(f"a.{ending}", text.format(body[ending] * (most + 1)))
            self.assertEqual(self.wrong(), [f"a.{ending}:one: 61 lines; split it by noun, 60 is the most"])
            (self.root / f"a.{ending}").unlink()

    def test_generated_lines_do_not_count(self) -> None:
        part = "# gen:python/options.j2 (make gen; do not edit)\n" + LONG * 300 + "# gen:end\n"
        self.write("parts.py", part + "x = 1\n" * 400)
        self.write("whole.py", "# Made from xtask/operations by make gen; do not edit.\n" + "x = 1\n" * 900)
        self.assertEqual(self.wrong(), [])

    def test_long_lines_that_are_added_are_found_and_old_ones_may_move(self) -> None:
        self.write("scripts/sizes.py", "x = 1\n")
        self.write("old.py", LONG)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "first")
        self.write("moved/new.py", "if True:\n    " + LONG)
        self.write("old.py", "")
        self.assertEqual(self.wrong(), [])
        self.write("old.py", LONG.replace("a word", "a ward"))
        self.assertIn("old.py:1", self.wrong()[0])

    def test_of_rust_only_comments_are_measured(self) -> None:
        self.write("scripts/sizes.py", "x = 1\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "first")
        self.write("lib.rs", f"let x = call({'a_word, ' * 20});\n/// {'a word ' * 20}\n/// | {'a row ' * 30} |\n")
        self.assertEqual([fault.split(":")[1] for fault in self.wrong()], ["2"])
