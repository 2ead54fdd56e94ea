#!/usr/bin/env bash
# Installs what the tests of the dashboard need: packages of npm, none of which is shipped. Quick when nothing has changed.
# After it: node --test tests/dashboard/*.test.mjs (a real Chromium: scripts/setup.sh node chromium)
set -euo pipefail
cd "$(dirname "$0")/../tests/dashboard"

stamp=node_modules/.lock
if ! cmp -s package-lock.json "$stamp"; then
  npm ci --no-audit --no-fund --silent
  cp package-lock.json "$stamp"
fi
