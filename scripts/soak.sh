#!/usr/bin/env bash
# A million rows through the outbox's relay, which is killed all the time (OJS_SOAK_ROWS). Then a million jobs in every language, one after the
# other (OJS_SOAK_JOBS: another number): memory must not grow with them.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:/usr/local/go/bin:$PATH" OJS_SOAK_JOBS=${OJS_SOAK_JOBS:-1000000}
target=${CARGO_TARGET_DIR:-$PWD/target}
export CARGO_TARGET_DIR=$target
step() { printf '\n-- %s\n' "$1"; shift; time "$@"; }

cargo build --release --locked --workspace --all-targets
export OJS_BUILT=1
scripts/python.sh && scripts/node.sh && scripts/ruby.sh && scripts/go.sh && scripts/java.sh && scripts/kotlin.sh
step Outbox env OJS_SOAK_ROWS="${OJS_SOAK_ROWS:-1000000}" cargo test --release --locked --workspace --test relay_fire -- --nocapture
step Rust cargo test --release --locked --workspace --test soak
step Python .venv/bin/python -m pytest -q -c python/pyproject.toml python/tests/test_soak.py
step Node.js node --test node/test/soak.test.mjs
step Ruby ruby -Iruby/lib -Iruby/test -e 'require "./ruby/test/soak_test"; exit Minitest.run([])'
step Go env -C go go test -count=1 -v -timeout 2h -run TestSoak .
export JAVA_HOME=$(scripts/jdk.sh)
step Java env -C java mvn --batch-mode --quiet --no-transfer-progress -Dtest=BoundaryTest#memoryDoesNotGrowWithTheJobs test
step Kotlin env -C kotlin mvn --batch-mode --quiet --no-transfer-progress -Dtest=BoundaryTest#memoryDoesNotGrowWithTheJobs test
