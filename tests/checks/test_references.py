"""scripts/references.py: a reference that leads nowhere is found, one that leads somewhere is not."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import references

MAP = "# Architecture\n\n## Map\n\n| folder | what |\n|---|---|\n| `core`, `docs` | code, pages |\n"

GOOD = {
    "docs/spec/README.md": "# Pages\n\n### Framework Adapters\n\n**5.2** Configuration\n",
    "docs/spec/protocol.md": "# Protocol\n\n## 6. JSON\n### 6.2 Numbers\n",
    "docs/spec/extensions.md": "# Extensions\n\n## 4. Limits\n",
    "docs/spec/dialects.md": "# Dialects\n\n### 0.1 Three\n",
    "docs/architecture.md": MAP + "\n**D5. Leases.** Text.\n",
    "docs/adr/README.md": "| [3](0003-one.md) | One writer | 2026-11-21 | accepted | |\n",
    "docs/adr/0003-one.md": "# 3. One writer\n\nDate: 2026-11-21. Status: accepted.\n",
    "core/job.rs": "fn enqueue() {}\n",
}


def wrong_with(more: dict[str, str]) -> list[str]:
    """What the check says of a small repository with these files."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        for name, text in (GOOD | more).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return references.check(root)[0]


class References(unittest.TestCase):
    def refused(self, name: str, text: str, why: str) -> None:
        wrong = wrong_with({name: text})
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn(why, wrong[0])

    def test_what_leads_somewhere_passes(self) -> None:
        page = ("# Page\n\n## A heading, long\n\n[job](../core/job.rs) [`enqueue`](../core/job.rs) "
                "[here](#a-heading-long) `core/job.rs` `core/{job}.rs` `core/*.rs` decision 3, decision D5, "
                "protocol section 6.2, dialects 0.1\n")
        code = ("// (extensions section 4; protocol sections 6 and 6.2)\n"
                "// As \"Framework Adapters\",\n// section 5.2, prints it.\n")
        self.assertEqual(wrong_with({"docs/page.md": page, "core/more.rs": code}), [])

    def test_links(self) -> None:
        self.refused("docs/page.md", "[job](../core/jobs.rs)\n", "does not exist")
        self.refused("docs/page.md", "[job](adr/README.md#nothing)\n", "no heading #nothing")
        self.refused("docs/page.md", "[`dequeue`](../core/job.rs)\n", "has no `dequeue`")

    def test_a_name_must_be_defined_where_its_link_leads(self) -> None:
        call = {"core/caller.rs": "fn run() { enqueue() }\n", "docs/page.md": "[`enqueue`](../core/caller.rs)\n"}
        wrong = wrong_with(call)
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn("has no `enqueue`", wrong[0])

    def test_the_map_names_each_folder_and_nothing_else(self) -> None:
        self.refused("bench/run.py", "", "lacks bench")
        self.refused("docs/architecture.md", f"{MAP}| `cli` | tool |\n\n**D5. Leases.**\n", "`cli` under \"## Map\"")
        engine = "\n### Inside the engine\n\n| folder | what |\n|---|---|\n| `http/`, `main.rs` | routes |\n"
        files = {"core/engine/src/http/a.rs": "", "core/engine/src/main.rs": "", "core/engine/src/lib.rs": ""}
        page = {"docs/architecture.md": f"{MAP}{engine}\n**D5. Leases.**\n"}
        lacks = "docs/architecture.md: the table under \"{}\" lacks {}"
        self.assertEqual(wrong_with(files | page), [lacks.format("## Map", "core/engine")])
        page = {"docs/architecture.md": f"{MAP}| `core/engine` | it |\n{engine}\n**D5. Leases.**\n"}
        self.assertEqual(wrong_with(files | page), [])
        wrong = wrong_with(files | page | {"core/engine/src/threads.rs": ""})
        self.assertEqual(wrong, [lacks.format("### Inside the engine", "core/engine/src/threads.rs")])

    def test_paths_on_pages(self) -> None:
        self.refused("docs/page.md", "It is in `core/jobs.rs`.\n", "`core/jobs.rs` does not exist")
        self.refused("README.md", "All of `core/{job,task}.rs`.\n", "does not exist")

    def test_sections(self) -> None:
        self.refused("core/more.rs", "// (protocol section 6.3)\n", "protocol has no section 6.3")
        self.refused("core/more.rs", "// (dialects 0.2)\n", "dialects has no section 0.2")
        self.refused("core/more.rs", "// framework adapters, section 9\n", "framework adapters has no section 9")
        self.refused("core/more.rs", "// (specification, section 5.2)\n", "of which document")
        self.refused("core/more.rs", "// `spec/dialects.md` says so\n", "must be docs/spec/dialects.md")

    def test_decisions(self) -> None:
        self.refused("core/more.rs", "// (decision D6)\n", "is not written down")
        self.refused("core/more.rs", "// (decision 4)\n", "is not written down")
        self.refused("docs/adr/0004-two.md", "# 4. Two writers\n", "no line `Date")
        page = "# 4. Two writers\n\nDate: 2026-11-22. Status: accepted.\n"
        self.refused("docs/adr/0004-two.md", page, "no row for 4")
