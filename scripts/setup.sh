#!/usr/bin/env bash
# Installs what the build needs and this machine lacks. Safe to run again; takes no time when nothing is missing.
#
#     setup.sh [package…]     further Debian packages that are wanted: those named as the command they bring (redis-server), and
#                             postgresql, the server programs (tests and benchmarks start a server of their own), node, with npm,
#                             mariadb, likewise, ruby, with its headers and the libclang that reads them, rails (tests of Ruby's adapters), go,
#                             c, what the tests of the C library read JSON with
#
# Wanted: a C compiler and make (SQLite, ring), git, Python 3.10 or newer with venv, Rust as rust-toolchain.toml says.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "cannot install as this user: run as root, or install by hand: ${missing[*]}"
  fi
}

missing=()
command -v cc   >/dev/null || missing+=(gcc libc6-dev)
command -v make >/dev/null || missing+=(make)
command -v git  >/dev/null || missing+=(git)
if ! command -v python3 >/dev/null; then
  missing+=(python3 python3-venv)
elif ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
  missing+=(python3-venv)
fi

# Debian keeps the server programs out of PATH.
postgresql_there() { compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || command -v postgres >/dev/null; }

# Where Node.js itself lies: its own installation brings them, Debian's has them in a package of their own.
node_headers_there() { local node; node=$(command -v node) && [ -e "$(dirname "$(dirname "$(readlink -f "$node")")")/include/node/node_api.h" ]; }

# Read by the crate that makes Ruby's functions known to Rust.
# (libclang-cpp, which LLVM's own tools bring, is another library.)
libclang_there() {
  [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null || compgen -G '/usr/lib/llvm-*/lib/libclang-[0-9]*.so*' >/dev/null ||
    ldconfig -p 2>/dev/null | grep -qE 'libclang(-[0-9.]+)?\.so'
}

# The package in go/ wants 1.24 or later. Go's own installation is not on everybody's PATH.
go_there() { local go; for go in go /usr/local/go/bin/go; do "$go" version 2>/dev/null | grep -qE 'go1\.(2[4-9]|[3-9][0-9])' && return; done; return 1; }

for package in "$@"; do
  case $package in
    node)
      command -v node >/dev/null || missing+=(nodejs); command -v npm >/dev/null || missing+=(npm)
      # The adapters' tests compile better-sqlite3, those of functions AWS's runtime client.
      command -v g++ >/dev/null || missing+=(g++)
      command -v cmake >/dev/null || missing+=(cmake); command -v xz >/dev/null || missing+=(xz-utils)
      node_headers_there || missing+=(libnode-dev) ;;
    ruby)
      command -v ruby >/dev/null || missing+=(ruby)
      ruby -e 'exit File.exist?(File.join(RbConfig::CONFIG["rubyhdrdir"], "ruby.h"))' 2>/dev/null || missing+=(ruby-dev)
      ruby -e 'require "minitest"' 2>/dev/null || missing+=(ruby-minitest)
      ruby -e 'require "rack"' 2>/dev/null || missing+=(ruby-rack)
      libclang_there || missing+=(libclang-dev) ;;
    rails)
      for gem in railties activerecord activejob mysql2 pg sqlite3; do
        ruby -e 'Gem::Specification.find_by_name(ARGV[0])' "$gem" 2>/dev/null || missing+=("ruby-$gem")
      done
      ruby -e 'Gem::Specification.find_by_name("puma")' 2>/dev/null || missing+=(puma) ;;
    # Tests of the C library read JSON with it.
    c) [ -e /usr/include/jsmn.h ] || missing+=(libjsmn-dev) ;;
    # Debian names the package of a command of Ruby's otherwise.
    sidekiq) command -v sidekiq >/dev/null || missing+=(ruby-sidekiq) ;;
    go) go_there || missing+=(golang-go) ;;
    java)
      command -v mvn >/dev/null || missing+=(maven)
      scripts/jdk.sh >/dev/null 2>&1 || missing+=(jdk) ;;
    # In /usr/sbin.
    mariadb) [ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null || missing+=(mariadb-server) ;;
    postgresql) postgresql_there || missing+=(postgresql) ;;
    # Its tool alone is used: it reads rules and queries in tests.
    prometheus) command -v promtool >/dev/null || missing+=(prometheus) ;;
    # In /usr/sbin, which is not on everybody's PATH.
    pgbouncer) [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || missing+=(pgbouncer) ;;
    *) command -v "$package" >/dev/null || missing+=("$package") ;;
  esac
done

# A machine with a rustup but without the toolchain is served by rustup itself, at the first cargo call.
PATH="$HOME/.cargo/bin:$PATH"
if ! command -v cargo >/dev/null; then
  missing+=(rustup)
fi

if [ "${#missing[@]}" -gt 0 ]; then
  command -v apt-get >/dev/null || die "install these with your package manager: ${missing[*]}"
  say "installing ${missing[*]}"
  as_root apt-get -qq update
  if [[ " ${missing[*]} " == *" rustup "* ]] && ! apt-cache show rustup >/dev/null 2>&1; then
    die "no cargo, and this release has no package rustup: install Rust first (https://rustup.rs)"
  fi
  # A JDK with FFM: the newest that this release has.
  for n in "${!missing[@]}"; do
    [ "${missing[n]}" = jdk ] || continue
    missing[n]=$(apt-cache search --names-only '^openjdk-[0-9]+-jdk-headless$' | sed 's/ .*//' | sort -t- -k2 -n | tail -1)
    [[ ${missing[n]} =~ ^openjdk-([0-9]+)- && ${BASH_REMATCH[1]} -ge 22 ]] || die "no JDK 22 or later in this release's packages: install one and set JAVA_HOME"
  done
  if [[ " ${missing[*]} " == *" golang-go "* ]] && ! apt-cache policy golang-go | grep -qE 'Candidate: .*:?1\.(2[4-9]|[3-9][0-9])'; then
    die "no Go 1.24 or later in this release's packages: install it first (https://go.dev/dl, into /usr/local/go)"
  fi
  # Debian's package would set up a database of its own and run it, now and after every start of the machine; we want the programs.
  if [[ " ${missing[*]} " == *" postgresql "* && ! -e /etc/postgresql-common/createcluster.conf ]]; then
    as_root mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
  fi
  # RUNLEVEL=1: packages that bring a service do not start it now; nor later.
  as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 UCF_FORCE_CONFFOLD=1 apt-get -qq install -y --no-install-recommends \
    "${missing[@]}" >/dev/null
  if [[ " ${missing[*]} " == *" pgbouncer "* && -d /run/systemd/system ]]; then
    as_root systemctl disable --quiet --now pgbouncer || true
  fi
  if [[ " ${missing[*]} " == *" prometheus "* && -d /run/systemd/system ]]; then
    as_root systemctl disable --quiet --now prometheus prometheus-node-exporter || true
  fi
  if [[ " ${missing[*]} " == *" mariadb-server "* && -d /run/systemd/system ]]; then
    as_root systemctl disable --quiet --now mariadb || true
  fi
fi

python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "python3 is $(python3 -V), 3.10 or newer is needed"
cargo --version >/dev/null 2>&1 || die "cargo does not start; rust-toolchain.toml names the toolchain to install"
