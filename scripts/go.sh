#!/usr/bin/env bash
# Builds the static library and puts it, with the headers, where the Go package in go/ links it. After it: cd go && go test ./...
#
#     go.sh               build
#     go.sh test          build, gofmt, vet, all tests with the race detector, then the installation into an empty project
#     go.sh adapters      the tests of the outbox and of the adapters, with the race detector; $OJS_TEST_POSTGRES is a database server
#     go.sh pack DIR      build the distribution profile, write the module and its adapters into DIR in the form of a module proxy
#                         (GOPROXY=file://DIR)
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
# The stamp says which profile the library is of: an older one of another profile takes its place all the same.
if ! [ "go/lib/$platform/libojs.a" -nt "$target/$profile/libojs_c.a" ] || [ "$(cat "go/lib/$platform/.profile" 2>/dev/null)" != "$profile" ]; then
  scripts/packages/go_library.sh "$target/$profile/libojs_c.a" "go/lib/$platform/libojs.a"
  echo "$profile" >"go/lib/$platform/.profile"
fi

# Counts what go test -v and go_module.py say; the names of what passed are for scripts/parity.py.
tally() {
  awk '/^ *--- PASS/ {passed++} /^ *--- FAIL/ {failed++} /^FAIL|^panic:|WARNING: DATA RACE/ {bad=1} !/^ *(=== |PASS$)/ {print}
       END {if (bad && !failed) failed = 1; printf "%d passed, %d failed\n", passed, failed; exit failed > 0}'
}

case $what in
  build) (cd go && go build ./... && echo "go $(go env GOVERSION), package in go/, library for $platform") ;;
  pack) python3 scripts/go_module.py pack "${2:?where to? go.sh pack DIR}" "$version" ;;
  test)
    unformatted=$(gofmt -l go tests/specification examples)
    [ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
    (cd go && go vet ./...)
    # Before the tests: what `go` says of downloads would stand in the middle of the lines that scripts/parity.py reads.
    for module in go go/serverless go/serverless/tests tests/specification/go; do (cd "$module" && go mod download); done
    {
      # The soak measures memory, of which the race detector needs much itself.
      (cd go && go test -race -count=1 -v ./... 2>&1)
      (cd go && go test -count=1 -v -run 'TestSoak' . 2>&1)
      (cd tests/specification/go && go test -count=1 -v ./... 2>&1)
      (cd go/serverless && CGO_ENABLED=0 go test -count=1 -v . 2>&1)
      (cd go/serverless && CGO_ENABLED=0 go vet . && cd tests && go vet ./... && go test -race -count=1 -v ./... 2>&1)
      python3 scripts/go_module.py install "$version"
    } | tally
    ;;
  adapters)
    unformatted=$(gofmt -l go/adapters)
    [ -z "$unformatted" ] || { echo "gofmt would change: $unformatted"; exit 1; }
    for module in ojs-adapter-otel ojs-adapter-pgx tests; do (cd "go/adapters/$module" && go vet -race ./...); done
    for module in ojs-adapter-otel ojs-adapter-pgx tests; do (cd "go/adapters/$module" && go test -race -count=1 -v ./... 2>&1); done | tally
    ;;
  *) echo "go.sh [build | test | adapters | pack DIR]" >&2; exit 2 ;;
esac
