#!/usr/bin/env bash
# Handlers that do nothing: this package beside db-scheduler on a PostgreSQL of the run's own. See Noop.java.
#
#     scripts/setup.sh java postgresql && cargo build --release -p ojs-cli -p ojs-postgres-fixture && scripts/java.sh
#     benches/java/run.sh [-Djobs=20000] [-Druns=3] [-Dthreads=10]
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}/release
JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME
mkdir -p target/bench
classes=$PWD/target/bench/java.classpath
mvn --batch-mode --quiet --no-transfer-progress -f benches/java/pom.xml dependency:build-classpath "-Dmdep.outputFile=$classes"
jars=$(printf '%s:' java/target/ojs-*.jar)$(cat "$classes")
# The fixture names its server in OJS_TEST_POSTGRES.
exec "$target/postgres-fixture" -- bash -c 'java=$1 jars=$2 ojs=$3; shift 3
  exec "$java" --enable-native-access=ALL-UNNAMED -cp "$jars" -Dojs="$ojs" -Dpostgres="$OJS_TEST_POSTGRES" "$@" benches/java/Noop.java' \
  bash "$JAVA_HOME/bin/java" "$jars" "$target/ojs" "$@"
