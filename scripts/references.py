#!/usr/bin/env python3
"""Every reference in this repository leads to something.

    references.py            everything; prints what is wrong, then "N passed, N failed"

- Links of Markdown pages: the file exists, and the heading after `#`. A link whose text is a name in `code`, such as
  [`enqueue`](client.rs), needs a definition of that name in the file.
- The map in docs/architecture.md names each folder of the repository, of core/ and of bindings/, and each folder and
  file of core/engine/src, and nothing that does not exist.
- Paths in `code` on Markdown pages that begin with a folder of this repository exist. They may contain `*` and `{a,b}`.
- "protocol section 5.2", "dialects 0.1", "Framework Adapters, section 5.2" in any file: the page in docs/spec has that
  section, or docs/spec/README.md lists it for that source document.
- "decision D5" stands in docs/architecture.md. "decision 33" and "ADR 33" are files in docs/adr, each with date and
  status, and docs/adr/README.md lists them all.

Python 3.10, standard library only.
"""
import functools
import re
import sys
from pathlib import Path

from tracked import tracked

ROOT = Path(__file__).resolve().parent.parent

#: Made when the project is built, so not in the repository.
BUILT = ("target/", ".venv/", "go/include/", "go/lib/", "java/target/",
         "kotlin/target/", "node_modules/", "tests/conformance/cases")
#: Documents whose sections are headings of a page in docs/spec, and those whose sections docs/spec/README.md lists.
PAGES = {"protocol": "protocol.md", "extensions": "extensions.md", "dialects": "dialects.md"}
SOURCES = ("framework adapters", "extension interactions", "serverless integration")
#: Short names that comments use. "architecture" has decisions, no numbered sections that code names.
SHORT = {"interactions": "extension interactions", "framework-adapter document": "framework adapters"}
#: Documents of the specification that are not restated section by section: docs/spec/README.md names them.
OFFICIAL = ("bulk operations", "http binding", "rfc")
#: Not ours to check: texts of others, and pages that quote section numbers of many documents.
SKIPPED = ("LICENSE", "dashboard/vendor/", "docs/spec/", "fuzz/seeds/", "fuzz/regressions/", "tests/checks/",
           "scripts/references.py")
NAMES = sorted([*PAGES, *SOURCES, *SHORT, *OFFICIAL], key=len, reverse=True)

#: Tables of docs/architecture.md: the heading above, the folder in which its names are, the folders that it must name
#: completely, and whether it names files as well.
MAPS = (("## Map", "", ("", "core", "bindings"), False),
        ("### Inside the engine", "core/engine/src", ("core/engine/src",), True))
#: How a name is defined in the languages of this repository.
DEFINED = (r"\b(?:fn|struct|enum|trait|type|const|static|mod|macro_rules!|def|class|module|function|func|interface|record"
           r"|object|let|var)\s+(?:\([^)]*\)\s*)?{}\b")

SECTION = re.compile(r"(?i)\bsections? (\d+(?:\.\d+)*)((?:(?:,| and| to) \d+(?:\.\d+)*)*)(?![\w%])")
DIALECT = re.compile(r"\bdialects(?:\.md`)? (\d+\.\d+)")
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
DECISION = re.compile(r"(?i)\b(?:decision|architecture,) (D\d+)\b|\b(?:decision|ADR)(?: record)? (\d+)\b")


class Repository:
    """The files that git knows, below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = dict.fromkeys(tracked(root))
        self.folders = {str(parent) for name in self.files for parent in Path(name).parents}
        self.tops = {name.split("/")[0] for name in self.files if "/" in name}
        self.text: dict[str, str] = {}

    def read(self, name: str) -> str:
        """The text of a file, nothing for one that is no text."""
        if name not in self.text:
            raw = (self.root / name).read_bytes()
            self.text[name] = "" if b"\0" in raw[:8000] else raw.decode(errors="replace")
        return self.text[name]

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder, or one that fits the pattern."""
        path = path.rstrip("/")
        if path in self.folders or path in self.files:
            return True
        if not set(path) & set("*{"):
            return False
        whole = re.escape(path).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
        whole = re.sub(r"\\\{([^}]*)\\\}", lambda m: "(" + m[1].replace(",", "|") + ")", whole)
        if "{" in path:
            # Each of the alternatives must exist, not one of them.
            choice = re.search(r"\{([^}]*)\}", path)
            return choice is not None and all(self.exists(path.replace(choice[0], one, 1))
                                              for one in choice[1].split(","))
        return any(re.fullmatch(whole, name) for name in [*self.files, *self.folders])


def anchors(text: str) -> set[str]:
    """The names that headings of a page get."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(re.sub(r"\s", "-", plain.strip()))
    return found


def without_code(text: str) -> str:
    """A page with its blocks of code blanked out, lines kept."""
    blank = lambda match: "\n" * match[0].count("\n")  # noqa: E731
    return re.sub(r"^```.*?^```$|^    .*$", blank, text, flags=re.MULTILINE | re.DOTALL)


def place(name: str, text: str, at: int) -> str:
    """FILE:LINE."""
    return f"{name}:{text.count(chr(10), 0, at) + 1}"


def links(repository: Repository, page: str) -> list[str]:
    """What is wrong with the links of a page."""
    text, wrong = without_fences(repository.read(page)), []
    for match in LINK.finditer(text):
        target, _, heading = match["target"].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        where = place(page, text, match.start())
        name = page if not target else str((Path("/") / Path(page).parent / target).as_posix())
        name = normal(name)
        if target and not (repository.exists(name) or name.startswith(BUILT) or name in ("", ".")):
            wrong.append(f"{where}: link to {target}, which does not exist")
            continue
        if heading and name.endswith(".md") and heading not in anchors(repository.read(name)):
            wrong.append(f"{where}: {target or 'this page'} has no heading #{heading}")
        code = re.fullmatch(r"`([A-Za-z_]\w*)(?:\(\))?`", match["text"])
        source = "" if name.endswith(".md") or name not in repository.files else repository.read(name)
        if code and source and not re.search(DEFINED.format(code[1]), source):
            wrong.append(f"{where}: {target} has no `{code[1]}`")
    return wrong


def without_fences(text: str) -> str:
    """A page without its ``` blocks, lines kept."""
    return re.sub(r"^```.*?^```$", lambda match: "\n" * match[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def normal(name: str) -> str:
    """A path without `..`, relative to the root."""
    parts: list[str] = []
    for part in name.strip("/").split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def paths(repository: Repository, page: str) -> list[str]:
    """Paths in `code` that do not exist."""
    text, wrong = without_code(repository.read(page)), []
    for match in CODE.finditer(text):
        path = match[1].split(":")[0] if re.search(r"\.\w+:\d+$", match[1]) else match[1]
        if not re.fullmatch(r"[\w.@-]+/[\w.@/{},*-]*", path) or path.split("/")[0] not in repository.tops:
            continue
        if path.startswith(BUILT) or "/target/" in path or "<" in path:
            continue
        if not repository.exists(path):
            wrong.append(f"{place(page, text, match.start())}: `{path}` does not exist")
    return wrong


def maps(repository: Repository) -> list[str]:
    """What the map of the repository leaves out, or names although it does not exist."""
    page, wrong = "docs/architecture.md", []
    for heading, base, complete, with_files in MAPS:
        if base and base not in repository.folders:
            continue
        part = re.search(rf"^{heading}\n(.*?)(?=^#|\Z)", repository.read(page), re.MULTILINE | re.DOTALL)
        rows = re.findall(r"^\| (`[^|]*) \|", part[1], re.MULTILINE) if part else []
        given = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
        named = {normal(f"{base}/{name.split('<')[0]}") for whole in given for name in alternatives(whole)}
        wrong += [f"{page}: `{name}` under \"{heading}\" does not exist" for name in sorted(named)
                  if not repository.exists(name)]
        places = [*repository.folders, *(repository.files if with_files else ())]
        wrong += [f"{page}: the table under \"{heading}\" lacks {name}" for name in sorted(places)
                  if str(Path(name).parent).replace(".", "", 1) in complete and not name.startswith(".")
                  and not name.endswith("/lib.rs") and not any((f"{at}/").startswith(f"{name}/") for at in named)]
    return wrong


def alternatives(pattern: str) -> list[str]:
    """The paths that a pattern such as `bindings/{c,go}` stands for."""
    choice = re.search(r"\{([^}]*)\}", pattern)
    return [pattern.replace(choice[0], one) for one in choice[1].split(",")] if choice else [pattern]


@functools.cache
def headings(repository: Repository, page: str) -> set[str]:
    """The section numbers of a page of docs/spec."""
    return set(re.findall(r"^#+ ([A-E]?\.?\d+(?:\.\d+)*)\.? ", repository.read(f"docs/spec/{page}"), re.MULTILINE))


@functools.cache
def listed(repository: Repository) -> dict[str, set[str]]:
    """The sections of the source documents: docs/spec/README.md has a heading per document and the numbers in bold."""
    found: dict[str, set[str]] = {}
    for part in re.split(r"^### ", repository.read("docs/spec/README.md"), flags=re.MULTILINE)[1:]:
        found[part.splitlines()[0].strip().lower()] = set(re.findall(r"\*\*(\d+(?:\.\d+)*)\*\*", part))
    return found


def document_of(text: str, start: int, end: int) -> str | None:
    """Which document a section belongs to: the name before it, else after it, else the file's only one."""
    before = re.sub(r"\s*\n\W*", " ", text[max(0, start - 160) : start]).lower()
    found = [(before.rfind(name), name) for name in NAMES if re.search(rf"\b{name}\b", before)]
    if found:
        return max(found, key=lambda item: (item[0] + len(item[1]), len(item[1])))[1]
    after = re.sub(r"\s*\n\W*", " ", text[end : end + 60]).lower()
    for name in NAMES:
        if re.match(rf"\W*of (the )?{name}\b", after):
            return name
    lower = text.lower()
    named = [name for name in (*PAGES, *SOURCES, *SHORT) if re.search(rf"\b{name}\W{{1,3}}sections? \d", lower)]
    inside = {SHORT.get(name, name) for name in named}
    return inside.pop() if len(inside) == 1 else None


def sections(repository: Repository, name: str) -> list[str]:
    """Sections named in a file that no document has."""
    text, wrong = repository.read(name), []
    pages = {word: headings(repository, page) for word, page in PAGES.items()}
    sources = listed(repository)
    for match in SECTION.finditer(text):
        numbers = [match[1], *re.findall(r"\d+(?:\.\d+)*", match[2])]
        document = document_of(text, match.start(), match.end())
        document = SHORT.get(document or "", document)
        where = place(name, text, match.start())
        if document is None:
            wrong.append(f"{where}: section {match[1]} of which document? Name it")
        elif document not in OFFICIAL:
            known = pages.get(document) or sources.get(document, set())
            wrong += [f"{where}: {document} has no section {number}" for number in numbers if number not in known]
    for match in DIALECT.finditer(text):
        if match[1] not in pages["dialects"]:
            wrong.append(f"{place(name, text, match.start())}: dialects has no section {match[1]}")
    if not name.endswith(".md"):  # whose links are looked at by themselves
        wrong += [f"{place(name, text, match.start())}: {match[0]} must be docs/{match[0]}"
                  for match in re.finditer(r"(?<![\w/.-])spec/(?:protocol|extensions|dialects)\.md", text)]
    return wrong


def decisions(repository: Repository, name: str) -> list[str]:
    """Decisions named in a file that no page holds."""
    text, wrong = repository.read(name), []
    architecture = set(re.findall(r"^\*\*(D\d+)\b", repository.read("docs/architecture.md"), re.MULTILINE))
    records = {int(Path(file).name[:4]) for file in repository.files if re.match(r"docs/adr/\d{4}-", file)}
    for match in DECISION.finditer(text):
        if (match[1] and match[1].upper() not in architecture) or (match[2] and int(match[2]) not in records):
            wrong.append(f"{place(name, text, match.start())}: {match[0]} is not written down")
    return wrong


def records(repository: Repository) -> list[str]:
    """What is wrong with the index of decisions."""
    index, wrong = repository.read("docs/adr/README.md"), []
    for file in repository.files:
        if not re.match(r"docs/adr/\d{4}-", file):
            continue
        text = repository.read(file)
        title = re.match(r"# (\d+)\. (.+)\n", text)
        line = re.search(r"^Date: (\d{4}-\d{2}-\d{2})\. Status: (.+)\.$", text, re.MULTILINE)
        if not title or int(title[1]) != int(Path(file).name[:4]):
            wrong.append(f"{file}: the first line must be `# NUMBER. Title`")
        elif not line:
            wrong.append(f"{file}: no line `Date: YYYY-MM-DD. Status: accepted.`")
        elif f"\n| [{title[1]}]({Path(file).name}) | {title[2]} | {line[1]} | {line[2]} |" not in "\n" + index:
            wrong.append(f"docs/adr/README.md: no row for {title[1]} with its title, {line[1]} and `{line[2]}`")
    return wrong


def check(root: Path) -> tuple[list[str], int]:
    """What is wrong, and how many files were looked at."""
    repository = Repository(root)
    wrong = records(repository) + maps(repository)
    for name in repository.files:
        if name.endswith(".md"):
            wrong += links(repository, name)
            wrong += [] if name.startswith("docs/spec/") else paths(repository, name)
        if not name.startswith(SKIPPED) and not name.endswith((".lock", "vectors.json")):
            wrong += sections(repository, name)
        if not name.startswith(("tests/checks/", "scripts/references.py")):
            wrong += decisions(repository, name)
    return wrong, len(repository.files)


def main() -> int:
    wrong, files = check(ROOT)
    print("\n".join(wrong))
    print(f"{files} files looked at, {len(wrong)} references that lead nowhere")
    print(f"{int(not wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
