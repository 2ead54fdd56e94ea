#!/usr/bin/env python3
"""Reads the Swift package without a Swift compiler, which the machine of `make test` does not have.

    swift_syntax.py XTASK LIBRARY     the built xtask and libojs_uniffi.so

Fails when a file cannot be parsed (written by hand, or made by uniffi), and when the code that is written by hand calls
the core by a name, or by labels of arguments, that uniffi has not made. Types are not checked: the package is compiled
by .github/workflows/swift.yml. Wanted: tree-sitter and tree-sitter-swift (python/requirements-dev.txt).
"""
from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Iterator

import tree_sitter
import tree_sitter_swift

ROOT = Path(__file__).resolve().parent.parent
SWIFT = ROOT / "swift"
#: The grammar does not know this attribute of the compiler; uniffi writes it above functions that no program calls.
UNKNOWN = b"@_documentation(visibility: private)"
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))

#: What the core is called: an object of it, and its module.
CORES = {"core", "OpenJobSpecCore"}

#: A function's name and the labels of its arguments: `stop(graceMs:)`.
Signature = tuple[str, tuple[str, ...]]


def parsed(text: bytes) -> tree_sitter.Node:
    """The tree of a file, in which the attribute that the grammar does not know is blank."""
    return PARSER.parse(text.replace(UNKNOWN, b" " * len(UNKNOWN))).root_node


def within(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all that is in it."""
    yield node
    for child in node.children:
        yield from within(child)


def faults(name: str, tree: tree_sitter.Node) -> list[str]:
    """Places where the parser lost its way."""
    found = [node for node in within(tree) if node.is_error or node.is_missing]
    return [f"{name}:{node.start_point.row + 1}:{node.start_point.column + 1}: not Swift" for node in found[:5]]


def text(node: tree_sitter.Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode()


def label(parameter: tree_sitter.Node) -> str:
    """What a call writes before the colon: the external name where there is one."""
    return text(parameter.child_by_field_name("external_name") or parameter.child_by_field_name("name") or parameter)


def owner(constructor: tree_sitter.Node) -> str:
    """The name of the class or structure in whose body a constructor stands."""
    outer = constructor.parent and constructor.parent.parent
    name = outer and outer.child_by_field_name("name")
    return text(name) if name else ""


def declared(tree: tree_sitter.Node) -> set[Signature]:
    """Functions and constructors that a file declares."""
    found: set[Signature] = set()
    for node in within(tree):
        labels = tuple(label(child) for child in node.children if child.type == "parameter")
        if node.type == "function_declaration":
            found.add((text(node.child_by_field_name("name") or node), labels))
        elif node.type == "init_declaration":
            found.add((owner(node), labels))
    return found


def types_of(tree: tree_sitter.Node) -> set[str]:
    """Classes and structures that a file declares; not those that it extends."""
    kinds = ("class", "struct")
    declarations = [node for node in within(tree) if node.type == "class_declaration"]
    return {text(node.child_by_field_name("name") or node) for node in declarations
            if text(node.child_by_field_name("declaration_kind") or node) in kinds}


def called(tree: tree_sitter.Node, types: set[str]) -> Iterator[tuple[tree_sitter.Node, Signature]]:
    """Calls of the core: methods of what is named `core`, functions of its module, constructors of its types."""
    for node in within(tree):
        if node.type != "call_expression" or not node.children:
            continue
        receiver, _, name = text(node.children[0]).rpartition(".")
        owner_name = receiver.rpartition(".")[2]
        if owner_name in CORES | types or not receiver and name in types:
            values = [one for one in within(node.children[-1]) if one.type == "value_argument"]
            own = [one for one in values if nearest_call(one) == node]
            yield node, (name, tuple(text(one).partition(":")[0] if ":" in text(one) else "" for one in own))


def nearest_call(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The call whose argument the node is: an argument may be a call itself."""
    parent = node.parent
    while parent is not None and parent.type != "call_expression":
        parent = parent.parent
    return parent


def main() -> int:
    xtask, library = sys.argv[1:]
    written = {str(path.relative_to(ROOT)): parsed(path.read_bytes())
               for folder in ("Sources/OpenJobSpec", "Tests") for path in sorted((SWIFT / folder).rglob("*.swift"))}
    written["swift/Package.swift"] = parsed((SWIFT / "Package.swift").read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([xtask, "bindings", "swift", library, folder], check=True)
        made = {path.name: parsed(path.read_bytes()) for path in Path(folder).glob("*.swift")}
    wrong = [fault for name, tree in (written | made).items() for fault in faults(name, tree)]
    known = set().union(*map(declared, made.values()))
    types = set().union(*map(types_of, made.values()))
    calls = [(name, node, call) for name, tree in written.items() for node, call in called(tree, types)]
    wrong += [f"{name}:{node.start_point.row + 1}: the core has no {call[0]}({''.join(f'{one}:' for one in call[1])})"
              for name, node, call in calls if call not in known]
    if not made or not calls:
        wrong.append("nothing was read: uniffi has made no file, or no call of the core was found")
    print("\n".join(wrong) or f"{len(written)} files by hand, {len(made)} made, {len(calls)} calls of the core")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
