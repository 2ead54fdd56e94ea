#!/usr/bin/env bash
# Builds the native half of the Node.js package and installs what its tests need. Quick when nothing has changed.
# After it: cd node && npm test
#
#     node.sh [debug]     with debug, the debug profile
#
# PROFILE=debug takes the debug profile, too.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

profile=${1:-${PROFILE:-release}}
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
# OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-node "${flags[@]}"
case $(uname -s) in
  Darwin) library=libojs_node.dylib ;;
  *)      library=libojs_node.so ;;
esac
# The package knows what this machine is called.
platform=$(node -p '(() => { const { platform, arch } = process; if (platform !== "linux") return `${platform}-${arch}`;
  process.report.excludeNetwork = true; return `${platform}-${arch}-${process.report.getReport().header.glibcVersionRuntime ? "gnu" : "musl"}` })()')
# A new file, not new content in the old one: a process may have that one loaded.
cp "${CARGO_TARGET_DIR:-target}/$profile/$library" "node/.new.node"
mv "node/.new.node" "node/ojs.$platform.node"

# Installing is slow even when all is there; the stamp remembers what was installed.
stamp=node/node_modules/.lock
if ! cmp -s node/package-lock.json "$stamp"; then
  (cd node && npm ci --no-audit --no-fund --silent)
  cp node/package-lock.json "$stamp"
fi
# What is compiled from here on needs the headers of Node.js. They are here.
headers=$(node -p 'require("node:path").resolve(process.execPath, "../..")')
[ -e "$headers/include/node/node_api.h" ] && export npm_config_nodedir="$headers"
# The runtimes that the serverless part is tested in. AWS's is compiled.
stamp=node/test/edge/node_modules/.lock
if ! cmp -s node/test/edge/package-lock.json "$stamp"; then
  (cd node/test/edge && npm ci --no-audit --no-fund --silent)
  cp node/test/edge/package-lock.json "$stamp"
fi
# The adapters' frameworks and drivers. better-sqlite3 is compiled: its binaries are not in the registry.
stamp=node/adapters/node_modules/.lock
if ! cmp -s node/adapters/package-lock.json "$stamp"; then
  (cd node/adapters && npm_config_build_from_source=true npm ci --no-audit --no-fund --silent)
  cp node/adapters/package-lock.json "$stamp"
fi
# What is outside of the package (tests/specification, examples) finds it by its name.
mkdir -p node_modules/@openjobspec
ln -sfn ../../node node_modules/@openjobspec/sdk
node -p '`@openjobspec/sdk ${require("./node").version} for ${process.platform}-${process.arch}`'
