#!/usr/bin/env bash
# The demo: `make demo`. First jobs in Python on an engine in the same process, then jobs that cross languages.
#
#     demo.sh [first]     with first, the Python half only
#
# The first half needs no server and no database server. So its build leaves out PostgreSQL, MySQL, HTTP and TLS, which are features of
# the Python package (bindings/python/Cargo.toml): 149 crates instead of 244. It lies in a folder of its own: a package that is built in
# python/ stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
case $(uname -s) in Darwin) library=lib_native.dylib ;; *) library=lib_native.so ;; esac

# The sources of the Python package with the native module that was built last.
package() { # folder
  mkdir -p "$1/openjobspec"
  ln -sfn "$PWD"/python/openjobspec/* "$1/openjobspec/"
  rm -f "$1"/openjobspec/_native*.so
  cp "$CARGO_TARGET_DIR/demo/$library" "$1/openjobspec/_native.abi3.so"
}

python=$CARGO_TARGET_DIR/demo/python
scripts/crates.py "the engine and the Python package (1 of 2)" --profile demo -p ojs-python --no-default-features
package "$python"
PYTHONPATH=$python python3 examples/demo/demo.py
echo "The first jobs were done within $SECONDS seconds of make demo."
[ "${1:-}" != first ] || exit 0

scripts/setup.sh node ruby java go
scripts/crates.py "the packages of all languages (2 of 2)" --profile demo -p ojs-python -p ojs-node -p ojs-c -p ojs-ruby
package "$python"
export OJS_BUILT=1 PROFILE=demo
for language in node ruby java go; do "scripts/$language.sh"; done
PYTHONPATH=$python python3 examples/demo/languages.py
