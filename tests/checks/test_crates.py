"""scripts/crates.py: what is being built and how far it is, in a line."""
import contextlib
import io
import json
import unittest
from unittest import mock

import crates


def artifact(package: str, kind: str = "lib") -> str:
    """As cargo writes it."""
    name = package.split("#")[1].split("@")[0]
    message = {"reason": "compiler-artifact", "package_id": package, "target": {"name": name, "kind": [kind]}}
    return json.dumps(message) + "\n"


class Lines(unittest.TestCase):
    """What a newcomer sees."""

    def test_a_package_counts_once_and_not_for_its_build_script(self) -> None:
        line = crates.Line("the package", 149)
        self.assertEqual(line.text(), "building the package: fetching 149 crates, 0:00")
        twice = [artifact("x#tokio@1.47")] * 2
        messages = [artifact("x#libc@0.2", "custom-build"), "no JSON\n", *twice, artifact("x#serde@1.0")]
        crates.follow(iter(messages), line)
        self.assertEqual(line.text(), "building the package: 2 of 149 crates, 0:00, serde")

    def test_more_crates_than_were_counted_are_no_contradiction(self) -> None:
        line = crates.Line("the package", 1)
        crates.follow(iter([artifact("x#tokio@1.47"), artifact("x#serde@1.0")]), line)
        self.assertIn("2 of 2 crates", line.text())

    def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_at_the_end(self) -> None:
        clock = iter(range(0, 1000, 4))
        written = io.StringIO()
        now = mock.patch.object(crates.time, "monotonic", lambda: float(next(clock)))
        with now, contextlib.redirect_stderr(written):
            line = crates.Line("the package", 2)
            for _ in range(6):
                line.show()
            line.end()
        lines = written.getvalue().splitlines()
        self.assertTrue(2 <= len(lines) < 7, lines)
        self.assertTrue(all(text.startswith("building the package: ") for text in lines), lines)

    def test_the_first_build_of_the_demo_has_far_fewer_crates_than_the_whole_package(self) -> None:
        options = ["-p", "ojs-python", "--no-default-features"]
        whole, first = crates.packages(["-p", "ojs-python"]), crates.packages(options)
        self.assertLess(first, whole * 0.7)
        self.assertGreater(first, 50)
        command = ["cargo", "tree", "--locked", *options, "-e", "normal,build", "--prefix", "none"]
        tree = crates.subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for left_out in ("tokio-postgres", "mysql_async", "reqwest", "rustls"):
            self.assertNotIn(f"\n{left_out} v", tree)


if __name__ == "__main__":
    unittest.main()
