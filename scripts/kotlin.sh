#!/usr/bin/env bash
# Builds the Kotlin package into kotlin/target: ojs-kotlin-<version>.jar, and ojs-kotlin-<version>-<platform>.jar with the native library.
#
#     kotlin.sh               build
#     kotlin.sh test          build, run the tests, install into the local Maven repository, and run examples/kotlin, a project that uses
#                             the two jars as users do
#
# PROFILE=debug takes the debug profile. Wanted: a JDK 17 or later and Maven (setup.sh java).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

what=${1:-build}
case $what in build | test) ;; *) echo "kotlin.sh [build | test]" >&2; exit 2 ;; esac
profile=${PROFILE:-release}
JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
built=${CARGO_TARGET_DIR:-target}/$profile
# OJS_BUILT: the whole workspace has been built a moment ago; these packages alone have other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-uniffi -p xtask "${flags[@]}"

# The names of JNA's own folders.
machine=$(uname -m)
case $(uname -s) in
  Darwin) library=libojs_uniffi.dylib platform=darwin-${machine/arm64/aarch64} ;;
  *)      library=libojs_uniffi.so platform=linux-${machine/x86_64/x86-64} ;;
esac
"$built/xtask" bindings kotlin "$built/$library" kotlin/target/uniffi
folder=kotlin/target/natives/$platform
mkdir -p "$folder"
# A new file, not new content in the old one: a process may have that one loaded.
cp "$built/$library" "$folder/.new"
if [ "$(uname -s)" = Linux ] && command -v strip >/dev/null; then strip --strip-debug "$folder/.new"; fi
mv "$folder/.new" "$folder/$library"

# Maven's own start, and the Kotlin compiler in it, print warnings about their libraries on newer JDKs: they are not ours.
export MAVEN_OPTS="${MAVEN_OPTS:-} --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
# A first run downloads: a connection that breaks is no failure. The names are those of Maven 3.8 and of 3.9.
retries="-Dmaven.wagon.http.retryHandler.count=5 -Dmaven.wagon.http.retryHandler.requestSentEnabled=true -Dmaven.wagon.httpconnectionManager.ttlSeconds=25 -Daether.connector.http.retryHandler.count=5"
MAVEN_OPTS="$MAVEN_OPTS $retries"
maven() { mvn --batch-mode --quiet --no-transfer-progress "-Dojs.platform=$platform" "$@"; }

version=$(sed -n 's|^  <version>\(.*\)</version>$|\1|p' kotlin/pom.xml)
if [ "$what" = build ]; then
  (cd kotlin && maven -DskipTests package)
  echo "kotlin/target/ojs-kotlin-$version.jar, kotlin/target/ojs-kotlin-$version-$platform.jar"
  exit 0
fi

rm -rf kotlin/target/surefire-reports
(cd kotlin && maven install) || status=$?
# The totals come from the reports, also when tests have failed.
python3 - kotlin/target/surefire-reports <<'PY'
import pathlib
import sys
import xml.etree.ElementTree as tree

suites = [tree.parse(path).getroot() for path in sorted(pathlib.Path(sys.argv[1]).glob("TEST-*.xml"))]
total = {name: sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")}
failed = total["failures"] + total["errors"]
# On a line of its own: Maven ends with the codes of a terminal, wherever it runs.
print(f"\n{total['tests'] - failed - total['skipped']} passed, {failed} failed, {total['skipped']} skipped", flush=True)
PY
[ "${status:-0}" -eq 0 ] || exit "$status"

printf '\n-- examples/kotlin, in an empty folder\n'
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
cp -r examples/kotlin/. "$empty"
(
  cd "$empty"
  maven "-Dojs.version=$version" compile exec:exec
) | tee "$empty/output"
grep -q 'to ada@example.com attempt 1$' "$empty/output"
