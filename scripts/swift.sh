#!/usr/bin/env bash
# Builds the library for Swift, and writes the code that uniffi makes of it into swift/Sources. PROFILE=debug takes the debug profile.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

profile=${PROFILE:-release}
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
built=${CARGO_TARGET_DIR:-target}/$profile
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-uniffi -p xtask "${flags[@]}"
case $(uname -s) in Darwin) library=libojs_uniffi.dylib ;; *) library=libojs_uniffi.so ;; esac

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$built/xtask" bindings swift "$built/$library" "$made"
mkdir -p swift/Sources/OpenJobSpecCore swift/Sources/OpenJobSpecFFI
mv "$made/OpenJobSpecCore.swift" swift/Sources/OpenJobSpecCore/
mv "$made/OpenJobSpecFFI.h" swift/Sources/OpenJobSpecFFI/
mv "$made/OpenJobSpecFFI.modulemap" swift/Sources/OpenJobSpecFFI/module.modulemap
ls swift/Sources/OpenJobSpecCore swift/Sources/OpenJobSpecFFI
