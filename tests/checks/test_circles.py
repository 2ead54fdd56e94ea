"""scripts/imports.py and scripts/circles.py: what imports what, and in what circles."""
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import circles
import imports


class Circles(unittest.TestCase):
    def graph(self, read: str, files: dict[str, str]) -> imports.Graph:
        """The graph of a package with these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            for name, text in files.items():
                (root / "package" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "package" / name).write_text(text)
            with mock.patch.object(imports, "ROOT", root):
                return getattr(imports, read)("package")

    def test_rust(self) -> None:
        graph = self.graph("rust", {
            "lib.rs": "mod kernel;\nmod store;\n",
            "kernel/mod.rs": "pub mod command;\npub mod job;\n",
            "kernel/command.rs": "use super::job::Job;\nuse crate::store::{self, tables::{Row, Table}};\n",
            "kernel/job.rs": "#[cfg(test)]\nmod tests {\n    use crate::store::tables::Row;\n}\n",
            "store.rs": "// crate::kernel::job\npub mod tables;\n",
            "store/tables.rs": "fn row(command: &crate::kernel::command::Command) {}\n",
        })
        self.assertEqual(graph["kernel::command"], {"kernel::job", "store", "store::tables"})
        self.assertEqual(graph["kernel::job"], set())
        self.assertEqual(graph["store"], set())
        self.assertEqual(circles.groups(graph), [{"kernel::command", "store::tables"}])

    def test_python(self) -> None:
        graph = self.graph("python", {
            "__init__.py": "from .client import Client\n",
            "client.py": "from .job import Job\nfrom . import errors\n",
            "job.py": "def client():\n    from .client import Client\n",
            "errors.py": "import package.client\n",
        })
        self.assertEqual(graph["client.py"], {"job.py", "errors.py"})
        self.assertEqual(circles.groups(graph), [{"client.py", "errors.py"}])

    def test_node(self) -> None:
        graph = self.graph("node", {
            "client.cjs": "const { Job } = require('./job.cjs');\n",
            "job.cjs": "// require('./client.cjs')\nfunction late() {\n  return require('./client.cjs');\n}\n",
        })
        self.assertEqual(graph, {"client.cjs": {"job.cjs"}, "job.cjs": set()})
        self.assertEqual(circles.groups(graph), [])
