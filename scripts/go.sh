#!/usr/bin/env bash
# Builds the static library and puts it, with the headers, where the Go package in go/ links it. After it: cd go && go test ./...
#
#     go.sh               build
#     go.sh test          build, gofmt, vet, all tests with the race detector, then the installation into an empty project
#     go.sh pack DIR      build the distribution profile, write the module into DIR in the form of a module proxy (GOPROXY=file://DIR)
#
# PROFILE=debug takes the debug profile.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:/usr/local/go/bin:$PATH"

what=${1:-build}
profile=${PROFILE:-release}
if [ "$what" = pack ]; then profile=dist; fi
target=${CARGO_TARGET_DIR:-$PWD/target}
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
# OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-c "${flags[@]}"

platform=$(go env GOOS)_$(go env GOARCH)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
mkdir -p "go/include" "go/lib/$platform"
cp include/ojs.h include/ojs_frame.h go/include/
# Without debug records: they are two thirds of it, and every program that links it pays for reading them.
if ! [ "go/lib/$platform/libojs.a" -nt "$target/$profile/libojs_c.a" ]; then
  cp "$target/$profile/libojs_c.a" "go/lib/$platform/.new.a"
  strip -S "go/lib/$platform/.new.a"
  mv "go/lib/$platform/.new.a" "go/lib/$platform/libojs.a"
fi

# The module as a proxy serves it: DIR/<module>/@v/{list,v….info,v….mod,v….zip}.
pack() {
  local module place
  module=$(sed -n 's/^module //p' go/go.mod)
  place=$1/$module/@v
  mkdir -p "$place"
  echo "v$version" > "$place/list"
  printf '{"Version":"v%s"}' "$version" > "$place/v$version.info"
  cp go/go.mod "$place/v$version.mod"
  python3 - "$module@v$version" "$place/v$version.zip" <<'PY'
import sys, zipfile
from pathlib import Path
prefix, name = sys.argv[1:]
with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    for path in sorted(Path("go").rglob("*")):
        if path.is_file() and not path.name.endswith("_test.go") and "/.new" not in str(path):
            archive.write(path, f"{prefix}/{path.relative_to('go')}")
    archive.write("LICENSE", f"{prefix}/LICENSE")
PY
}

# As users do it: an empty project, `go get`, the first program of the README.
install_test() {
  local work module cache
  work=$(mktemp -d)
  module=$(sed -n 's/^module //p' go/go.mod)
  pack "$work/proxy"
  mkdir "$work/app"
  awk '/^```go$/ {on=1; next} /^```$/ {if (on) exit} on' go/README.md > "$work/app/main.go"
  # The downloaded module is a copy in this project's own cache; what has been compiled of Go itself is shared.
  cache=(GOPROXY="file://$work/proxy" GONOSUMDB="$module" GOFLAGS=-modcacherw GOMODCACHE="$work/modules" GOTOOLCHAIN=local)
  (cd "$work/app" && go mod init example.com/app 2>/dev/null && env "${cache[@]}" go get "$module@v$version" 2>/dev/null &&
    env "${cache[@]}" go build -o app . &&
    python3 - <<'PY'
import signal, subprocess, sys
process = subprocess.Popen(["./app"], stdout=subprocess.PIPE, text=True)
line = process.stdout.readline()
process.send_signal(signal.SIGTERM)
sys.exit(not (line.startswith("to ada@example.com") and process.wait(30) == 0))
PY
  ) && echo "--- PASS: installed into an empty project, first job done" || echo "--- FAIL: installed into an empty project"
  rm -rf "$work"
}

# Counts what go test -v and install_test say.
tally() {
  awk '/^ *--- PASS/ {passed++} /^ *--- FAIL/ {failed++} /^FAIL|^panic:|WARNING: DATA RACE/ {bad=1} !/^ *(=== |--- PASS|PASS$)/ {print}
       END {if (bad && !failed) failed = 1; printf "%d passed, %d failed\n", passed, failed; exit failed > 0}'
}

case $what in
  build) (cd go && go build ./... && echo "go $(go env GOVERSION), package in go/, library for $platform") ;;
  pack) pack "${2:?where to? go.sh pack DIR}" ;;
  test)
    unformatted=$(gofmt -l go tests/seeds examples)
    [ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
    (cd go && go vet ./...)
    { (cd go && go test -race -count=1 -v ./... 2>&1); (cd tests/seeds/go && go test -count=1 -v ./... 2>&1); install_test; } | tally
    ;;
  *) echo "go.sh [build | test | pack DIR]" >&2; exit 2 ;;
esac
