#!/usr/bin/env bash
# Builds the native module and installs the Python package, editable, into .venv with everything its tests need.
# Quick when nothing has changed. After it: .venv/bin/python -m pytest python tests/seeds
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
# maturin is in .venv already: no build environment has to be fetched. It is cargo that decides whether there is work.
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable python
.venv/bin/python -c 'import openjobspec; print("openjobspec", openjobspec.__version__, "in .venv")'
