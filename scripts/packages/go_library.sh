#!/usr/bin/env bash
# Makes the static library that the Go package links of the one that cargo has built: go_library.sh BUILT OUT
set -euo pipefail

cp "$1" "$2.new"
# Without debug records: they are two thirds of it, and every program that links it pays for reading them.
strip -S "$2.new"
# A program may link a SQLite of its own (github.com/mattn/go-sqlite3): ours has other names. macOS has no objcopy.
if command -v objcopy >/dev/null; then
  nm -g --defined-only "$2.new" 2>/dev/null | awk '$3 ~ /^sqlite3/ {print $3, "ojs_" $3}' | sort -u >"$2.names"
  objcopy --enable-deterministic-archives --redefine-syms="$2.names" "$2.new"
  rm "$2.names"
fi
mv "$2.new" "$2"
