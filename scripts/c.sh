#!/usr/bin/env bash
# Builds the C library into a prefix, target/c: include/, lib/ (shared, static), lib/pkgconfig/ojs.pc, lib/cmake/ojs.
#
#     c.sh                build
#     c.sh test           build, then compile the test programs as C and C++ without a warning, and run them: linked to the shared
#                         library, under ASan and LSan with the static one, under valgrind if it is there; and the examples.
#                         Wanted: jsmn.h, which reads the vectors (setup.sh c)
#     c.sh install DIR    build the distribution profile, install into DIR (for example /usr/local)
#
# PROFILE=debug takes the debug profile.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

what=${1:-build}
profile=${PROFILE:-release}
if [ "$what" = install ]; then profile=dist; fi
target=${CARGO_TARGET_DIR:-$PWD/target}
prefix=$target/c
if [ "$what" = install ]; then prefix=${2:?where to? c.sh install DIR}; fi

case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
# OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-c "${flags[@]}"

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -1)
mkdir -p "$prefix/include" "$prefix/lib"
cp include/ojs.h include/ojs_frame.h include/ojs_operations.h "$prefix/include/"
cp "$target/$profile/libojs_c.a" "$prefix/lib/libojs.a"
if [ "$(uname -s)" = Darwin ]; then
  cp "$target/$profile/libojs_c.dylib" "$prefix/lib/libojs.dylib"
else
  cp "$target/$profile/libojs_c.so" "$prefix/lib/libojs.so.$version"
  ln -sf "libojs.so.$version" "$prefix/lib/libojs.so.0"
  ln -sf libojs.so.0 "$prefix/lib/libojs.so"
fi
python3 scripts/packages/clibrary.py files "$prefix"
echo "libojs $version in $prefix"
[ "$what" = test ] || exit 0

warnings=(-Wall -Wextra -Werror -pedantic)
include=(-I "$prefix/include")
shared=(-L "$prefix/lib" -lojs "-Wl,-rpath,$prefix/lib")
static=("$prefix/lib/libojs.a" -lpthread -ldl -lm)
out=$target/c/tests
mkdir -p "$out"
step() { printf '\n-- %s\n' "$1"; shift; "$@"; }

vectors=tests/vectors/vectors.json
for test in ojs outbox fake failures layers vectors operations worker_vectors; do
  case $test in
    layers | vectors) with=("$vectors") ;;
    operations) with=(tests/vectors/operations.json) ;;
    worker_vectors) with=("$vectors" tests/vectors/judge.py) ;;
    *) with=() ;;
  esac
  step "$test: C11, shared" cc -std=c11 -g "${warnings[@]}" "${include[@]}" "tests/c/test_$test.c" -o "$out/$test-shared" "${shared[@]}" -lpthread
  "$out/$test-shared" "${with[@]}"
  step "$test: C++17, shared" c++ -std=c++17 -g "${warnings[@]}" "${include[@]}" -x c++ "tests/c/test_$test.c" -x none -o "$out/$test-cpp" "${shared[@]}" -lpthread
  "$out/$test-cpp" "${with[@]}"
  step "$test: C11, static, address and leak sanitizer" cc -std=c11 -g -fsanitize=address,undefined -fno-omit-frame-pointer "${warnings[@]}" \
    "${include[@]}" "tests/c/test_$test.c" -o "$out/$test-asan" "${static[@]}"
  ASAN_OPTIONS=detect_leaks=1 "$out/$test-asan" "${with[@]}"
  if command -v valgrind >/dev/null; then
    # Definite leaks only: the runtime and thread-locals stay reachable until the end.
    step "$test: valgrind" valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
      --show-leak-kinds=definite --fair-sched=yes "$out/$test-shared" "${with[@]}"
  fi
done
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
for example in examples/c/*.c; do
  name=$(basename "$example" .c)
  # The pkg-config file is read here as pkg-config reads it, so that machines without pkg-config test it as well.
  if command -v pkg-config >/dev/null; then read -ra libs <<<"$(pkg-config --cflags --libs ojs)"; else libs=("${include[@]}" "${shared[@]}"); fi
  step "examples/c/$name.c" cc -std=c11 "${warnings[@]}" "$example" "${libs[@]}" "-Wl,-rpath,$prefix/lib" -o "$out/$name"
  (cd "$(mktemp -d)" && "$out/$name" sqlite:jobs.db)
done
