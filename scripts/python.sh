#!/usr/bin/env bash
# Builds the native module and installs the Python package, editable, into .venv with everything its tests need.
# Quick when nothing has changed. After it: .venv/bin/python -m pytest python tests/specification
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

if [ ! -x .venv/bin/python ]; then
    "${PYTHON:-python3}" -m venv .venv
fi
# Installing is slow even when all is there; the stamp remembers what was installed.
stamp=.venv/.requirements
if ! cmp -s python/requirements-dev.txt "$stamp"; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements-dev.txt
    cp python/requirements-dev.txt "$stamp"
fi
# AWS's tool for functions, with the emulator of Lambda that its wheel carries. It wants other versions of packages than the tests do.
stamp=.venv/sam/.requirements
if ! cmp -s python/requirements-sam.txt "$stamp"; then
    .venv/bin/python -m venv .venv/sam
    .venv/sam/bin/python -m pip install --quiet --disable-pip-version-check -r python/requirements-sam.txt
    cp python/requirements-sam.txt "$stamp"
fi
if [ "$(uname -s)" = Linux ]; then
  # cargo itself, not maturin behind pip: the first build takes minutes, and cargo shows how far it is.
  # OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
  [ -n "${OJS_BUILT:-}" ] || cargo build --locked --release -p ojs-python
  # A new file, not new content in the old one: a process may have that one loaded.
  strip -S -o python/.native "${CARGO_TARGET_DIR:-target}/release/lib_native.so"
  mv python/.native python/openjobspec/_native.abi3.so
  PATH="$PWD/.venv/bin:$PATH" .venv/bin/python scripts/editable.py
else
  # maturin is in .venv already: no build environment has to be fetched. It is cargo that decides whether there is work.
  PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable python
fi
.venv/bin/python -c 'import openjobspec; print("openjobspec", openjobspec.__version__, "in .venv")'
