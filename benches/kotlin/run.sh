#!/usr/bin/env bash
# Handlers that do nothing in Kotlin, see Noop.kt; `classpath` prints what single files are compiled and run with.
#
#     scripts/setup.sh java && scripts/kotlin.sh
#     benches/kotlin/run.sh [-Djobs=20000] [-Dthreads=10] [-Dpayload=150] -- noop URL | calls URL
set -euo pipefail
cd "$(dirname "$0")/../.."
JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME
mkdir -p target/bench
paths=$PWD/target/bench/kotlin.classpath
# Slow even when all is there: asked anew when the list of what is wanted changes.
if ! [ "$paths" -nt benches/kotlin/pom.xml ]; then
  mvn --batch-mode --quiet --no-transfer-progress -Dstyle.color=never -f benches/kotlin/pom.xml dependency:build-classpath "-Dmdep.outputFile=$paths" >&2
fi
jars=$(printf "$PWD/%s:" kotlin/target/ojs-kotlin-*.jar)$(cat "$paths")
if [ "${1:-}" = classpath ]; then echo "$jars"; exit 0; fi
properties=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do properties+=("$1"); shift; done
[ $# -eq 3 ] || { echo "run.sh [-Djobs=20000] ... -- noop URL | calls URL, or run.sh classpath" >&2; exit 2; }
classes=target/bench/kotlin
stale=
for input in benches/kotlin/Noop.kt kotlin/target/ojs-kotlin-*.jar; do [ "$classes" -nt "$input" ] || stale=1; done
if [ -n "$stale" ]; then
  # JDK 22 does not know the option.
  "$JAVA_HOME/bin/java" -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow -cp "$jars" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler \
    -jvm-target 17 -no-stdlib -no-reflect -nowarn -cp "$jars" -d "$classes" benches/kotlin/Noop.kt >&2
  touch "$classes"
fi
# Without the compiler and its reflection, which programs do not have: by reflection, types are looked at slowly.
jars=$(tr : '\n' <<<"$jars" | grep -v -e /kotlin-compiler -e /kotlin-reflect -e /kotlin-script -e /kotlin-daemon | paste -sd :)
exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$classes:$jars" "${properties[@]}" NoopKt "$2" "$3"
