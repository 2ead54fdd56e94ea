#!/usr/bin/env bash
# Builds the Java package into java/target: ojs-<version>.jar, and ojs-<version>-<platform>.jar with the native library.
#
#     java.sh                 build
#     java.sh test            build, run the tests, install into the local Maven repository, and run examples/java, a project that uses
#                             the two jars as users do
#     java.sh adapters        build, and run the tests of java/adapters; wanted besides: servers of PostgreSQL and MariaDB, named by
#                             OJS_TEST_POSTGRES and OJS_TEST_MYSQL (postgres-fixture -- mariadb-fixture scripts/java.sh adapters)
#
# PROFILE=debug takes the debug profile. Wanted: a JDK 22 or later and Maven (setup.sh java).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

what=${1:-build}
case $what in build | test | adapters) ;; *) echo "java.sh [build | test | adapters]" >&2; exit 2 ;; esac
profile=${PROFILE:-release}
# shellcheck source=scripts/maven.sh
. scripts/maven.sh
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
# OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-c "${flags[@]}"

case $(uname -s) in
  Darwin) system=macos library=libojs_c.dylib file=libojs.dylib ;;
  *)      system=linux library=libojs_c.so file=libojs.so ;;
esac
machine=$(uname -m)
platform=$system-${machine/arm64/aarch64}
folder=java/target/natives/org/openjobspec/native/$platform
mkdir -p "$folder"
# A new file, not new content in the old one: a process may have that one loaded.
cp "${CARGO_TARGET_DIR:-target}/$profile/$library" "$folder/.new"
if [ "$system" = linux ] && command -v strip >/dev/null; then strip --strip-debug "$folder/.new"; fi
mv "$folder/.new" "$folder/$file"

version=$(sed -n 's|^  <version>\(.*\)</version>$|\1|p' java/pom.xml)
if [ "$what" = build ]; then
  (cd java && maven -DskipTests package)
  echo "java/target/ojs-$version.jar, java/target/ojs-$version-$platform.jar"
  exit 0
fi

if [ "$what" = adapters ]; then
  reports=(java/adapters/ojs-adapter-{jdbc,spring-boot-starter}/target/surefire-reports)
  rm -rf "${reports[@]}"
  # With OJS_BUILT it has been installed, and others may be using it at this moment.
  [ -n "${OJS_BUILT:-}" ] || (cd java && maven -Dmaven.test.skip=true install)
  (cd java/adapters && maven --fail-at-end install) || status=$?
  tally "${reports[@]}"
  exit "${status:-0}"
fi

rm -rf java/target/surefire-reports
(cd java && maven install) || status=$?
tally java/target/surefire-reports
[ "${status:-0}" -eq 0 ] || exit "$status"

printf '\n-- examples/java, in an empty folder\n'
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
cp -r examples/java/. "$empty"
repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}/org/openjobspec/ojs/$version
(
  cd "$empty"
  maven compile
  "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED \
    -cp "target/classes:$repository/ojs-$version.jar:$repository/ojs-$version-$platform.jar" mail.Mail
) | tee "$empty/output"
grep -q 'to ada@example.com attempt 1$' "$empty/output"
