#!/usr/bin/env bash
# Builds the Kotlin package into kotlin/target: ojs-kotlin-<version>.jar, and ojs-kotlin-<version>-<platform>.jar with the native library.
#
#     kotlin.sh               build
#     kotlin.sh test          build, run the tests, install into the local Maven repository, and run examples/kotlin, a project that uses
#                             the two jars as users do; wanted besides: servers of PostgreSQL and MariaDB, named by OJS_TEST_POSTGRES and
#                             OJS_TEST_MYSQL (postgres-fixture -- mariadb-fixture scripts/kotlin.sh test)
#
# PROFILE=debug takes the debug profile. Wanted: a JDK 22 or later and Maven (setup.sh java). The package itself runs on JDK 17.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

what=${1:-build}
case $what in build | test) ;; *) echo "kotlin.sh [build | test]" >&2; exit 2 ;; esac
profile=${PROFILE:-release}
# shellcheck source=scripts/maven.sh
. scripts/maven.sh
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

version=$(sed -n 's|^  <version>\(.*\)</version>$|\1|p' kotlin/pom.xml)
if [ "$what" = build ]; then
  (cd kotlin && maven -DskipTests package)
  echo "kotlin/target/ojs-kotlin-$version.jar, kotlin/target/ojs-kotlin-$version-$platform.jar"
  exit 0
fi

rm -rf kotlin/target/surefire-reports
(cd kotlin && maven install) || status=$?
tally kotlin/target/surefire-reports
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
