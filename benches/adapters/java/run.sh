#!/usr/bin/env bash
# The programs of this folder, with the adapters compiled from their sources beside them.
#
#     scripts/setup.sh java && scripts/java.sh
#     benches/adapters/java/run.sh build
#     benches/adapters/java/run.sh Jdbc|Spring DATABASE_URL WARM WITHOUT WITH
set -euo pipefail
cd "$(dirname "$0")/../../.."
JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME
here=benches/adapters/java
place=target/bench/adapters-java
jars=$(printf '%s:' java/target/ojs-*.jar)

if [ "${1:-}" = build ]; then
  mkdir -p "$place"
  # Slow even when all is there: asked anew when the list of what is wanted changes.
  if ! [ "$place/classpath" -nt "$here/pom.xml" ]; then
    mvn --batch-mode --quiet --no-transfer-progress -Dstyle.color=never -f "$here/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$PWD/$place/classpath" >&2
  fi
  rm -rf "$place/classes"
  "$JAVA_HOME/bin/javac" -parameters -proc:none -d "$place/classes" -cp "$jars$(cat "$place/classpath")" \
    java/adapters/ojs-adapter-jdbc/src/main/java/org/openjobspec/jdbc/*.java \
    java/adapters/ojs-adapter-spring-boot-starter/src/main/java/org/openjobspec/spring/*.java "$here"/*.java
  cp -r java/adapters/ojs-adapter-spring-boot-starter/src/main/resources/. "$place/classes/"
  exit 0
fi
[ $# -eq 5 ] || { echo "run.sh build | Jdbc|Spring DATABASE_URL WARM WITHOUT WITH" >&2; exit 2; }
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$place/classes:$jars$(cat "$place/classpath")" "bench.$1" "${@:2}"
