#!/usr/bin/env bash
# Handlers that do nothing in Java: this package, or db-scheduler on PostgreSQL. See Noop.java.
#
#     scripts/setup.sh java && scripts/java.sh
#     benches/java/run.sh [-Djobs=20000] [-Dthreads=10] [-Dpayload=150] -- ojs URL | db-scheduler URL
set -euo pipefail
cd "$(dirname "$0")/../.."
JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME
mkdir -p target/bench
classes=$PWD/target/bench/java.classpath
# Slow even when all is there: asked anew when the list of what is wanted changes.
if ! [ "$classes" -nt benches/java/pom.xml ]; then
  mvn --batch-mode --quiet --no-transfer-progress -Dstyle.color=never -f benches/java/pom.xml dependency:build-classpath "-Dmdep.outputFile=$classes" >&2
fi
properties=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do properties+=("$1"); shift; done
[ $# -eq 3 ] || { echo "run.sh [-Djobs=20000] ... -- ojs URL | db-scheduler URL" >&2; exit 2; }
jars=$(printf '%s:' java/target/ojs-*.jar)$(cat "$classes")
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$jars" "${properties[@]}" benches/java/Noop.java "$2" "$3"
