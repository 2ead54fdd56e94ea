#!/usr/bin/env bash
# Prints the home of a JDK with FFM, 22 or later: JAVA_HOME, the one on PATH, then what is installed, newest first. Fails without one.
set -euo pipefail

version() { # of a home; 0 when it is none
  [ -x "$1/bin/javac" ] || { echo 0; return; }
  local text
  text=$("$1/bin/javac" -version 2>&1) || { echo 0; return; }
  text=${text#javac }
  echo "${text%%[.-]*}"
}

homes=()
if [ -n "${JAVA_HOME:-}" ]; then homes+=("$JAVA_HOME"); fi
if command -v javac >/dev/null; then homes+=("$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")"); fi
for home in /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home; do homes+=("$home"); done

best=21 found=
for home in "${homes[@]}"; do
  number=$(version "$home")
  # What the user chose wins; among the rest the newest.
  if [ "$number" -ge 22 ] && [ "$home" = "${JAVA_HOME:-}" ]; then echo "$home"; exit 0; fi
  if [ "$number" -gt "$best" ]; then best=$number found=$home; fi
done
[ -n "$found" ] || { echo "jdk: no JDK 22 or later found; install one and set JAVA_HOME" >&2; exit 1; }
echo "$found"
