"""A panic inside the core, under every entry of its interface, is an error in the program: typed, with the name of the entry, and the
process lives on. ``OJS_FAULT_PANIC`` makes every guarded entry panic.

The functions of the C interface are called here one by one, as the header names them. The guard comes before anything looks at an argument,
so arguments are zeros.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FAULT = os.environ | {"OJS_FAULT_PANIC": "*"}
#: `OJS_CLASS_INTERNAL`: the same number in all languages.
INTERNAL = 42


def entries() -> list[str]:
    """The functions of the header that can fail."""
    header = (ROOT / "include" / "ojs.h").read_text(encoding="utf-8")
    found = re.findall(r"^(?:OJS_MUST_USE\s+)?(?:struct )?ojs_error \*(ojs_\w+)\(", header, re.MULTILINE)
    return [name for name in found if not name.startswith("ojs_error")]


def call(name: str) -> None:
    """Calls one function in a library that panics everywhere."""
    library = ctypes.CDLL(str(TARGET / "release" / "libojs_c.so"))
    for _ in range(2):  # the process lives: a second call gives the same
        function = getattr(library, name)
        function.restype = ctypes.c_void_p
        error = function(*[ctypes.c_void_p(0)] * 14)
        assert error, f"{name} returned no error"
        library.ojs_error_class.restype = ctypes.c_int32
        library.ojs_error_message.restype = ctypes.c_void_p
        number = library.ojs_error_class(ctypes.c_void_p(error))
        assert number == INTERNAL, f"{name}: class {number}"
        library.ojs_error_free(ctypes.c_void_p(error))


if __name__ == "__main__":
    for entry in sys.argv[1:]:
        call(entry)
        print(entry, flush=True)
    sys.exit(0)


@pytest.fixture(scope="module")
def called() -> subprocess.CompletedProcess[str]:
    """All functions, one after the other, in one process: it lives through all of them."""
    return subprocess.run([sys.executable, __file__, *entries()], env=FAULT, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("name", entries())
def test_c(called: subprocess.CompletedProcess[str], name: str) -> None:
    assert name in called.stdout.split(), called.stderr


def test_the_process_lives(called: subprocess.CompletedProcess[str]) -> None:
    assert called.returncode == 0, called.stderr


def test_the_header_has_entries() -> None:
    assert len(entries()) >= 40


PYTHON = """
import openjobspec as ojs
for _ in range(2):
    try:
        ojs.Client("memory:").enqueue("a")
    except ojs.OJSError as error:
        print(type(error).__name__)
"""
NODE = f"""
const sdk = require({str(ROOT / 'node')!r});
(async () => {{
  for (let n = 0; n < 2; n += 1) {{
    try {{ await new sdk.OJSClient({{ url: 'memory:' }}).enqueue('a'); }} catch (error) {{ console.log(error.name); }}
  }}
}})();
"""
RUBY = """
2.times do
  OJS::Client.new("memory:").enqueue("a")
rescue OJS::Error => e
  puts e.class.name
end
"""


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ([sys.executable, "-c", PYTHON], "InternalError"),
        (["node", "-e", NODE], "OJSInternalError"),
        (["ruby", f"-I{ROOT}/ruby/lib", "-rojs", "-e", RUBY], "OJS::InternalError"),
    ],
    ids=["python", "node", "ruby"],
)
def test_glue(command: list[str], name: str) -> None:
    assert shutil.which(command[0]), f"{command[0]} is missing: make setup"
    done = subprocess.run(command, env=FAULT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split()) == (0, [name, name]), done.stderr
