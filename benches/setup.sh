#!/usr/bin/env bash
# Prepares the rivals: a virtual environment of their own in target/bench/venv. Quick when nothing has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/bench/venv
if ! command -v redis-server > /dev/null; then
    echo "redis-server is missing; on Debian: apt-get install redis-server" >&2
    exit 1
fi
if [ ! -x "$venv/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
fi
if ! cmp -s benches/python/requirements.txt "$venv/.requirements"; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r benches/python/requirements.txt
    cp benches/python/requirements.txt "$venv/.requirements"
fi
