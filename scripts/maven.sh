# What java.sh and kotlin.sh share. Sourced by them at the root of the repository; maven wants $platform.
# shellcheck shell=bash
# shellcheck disable=SC2154 # platform

JAVA_HOME=$(scripts/jdk.sh)
export JAVA_HOME

# Maven's own start, and the Kotlin compiler in it, print warnings about their libraries on newer JDKs: they are not ours.
# JDK 22 does not know the second option.
MAVEN_OPTS="${MAVEN_OPTS:-} --enable-native-access=ALL-UNNAMED"
MAVEN_OPTS="$MAVEN_OPTS -XX:+IgnoreUnrecognizedVMOptions --sun-misc-unsafe-memory-access=allow"
# A first run downloads: a connection that breaks is no failure. The names are those of Maven 3.8 and of 3.9.
retries="-Dmaven.wagon.http.retryHandler.count=5 -Dmaven.wagon.http.retryHandler.requestSentEnabled=true -Dmaven.wagon.httpconnectionManager.ttlSeconds=25 -Daether.connector.http.retryHandler.count=5"
export MAVEN_OPTS="$MAVEN_OPTS $retries"
maven() { mvn --batch-mode --quiet --no-transfer-progress "-Dojs.platform=$platform" "$@"; }

# The totals come from the reports, also when tests have failed.
tally() { # folders of reports
  python3 - "$@" <<'PY'
import pathlib
import sys
import xml.etree.ElementTree as tree

suites = [tree.parse(path).getroot() for folder in sys.argv[1:] for path in sorted(pathlib.Path(folder).glob("TEST-*.xml"))]
total = {name: sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "failures", "errors", "skipped")}
failed = total["failures"] + total["errors"]
# On a line of its own: Maven ends with the codes of a terminal, wherever it runs.
print(f"\n{total['tests'] - failed - total['skipped']} passed, {failed} failed, {total['skipped']} skipped", flush=True)
PY
}
