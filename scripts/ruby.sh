#!/usr/bin/env bash
# Builds the native half of the Ruby gem. Quick when nothing has changed.
#
#     ruby.sh [build]     build into ruby/lib
#     ruby.sh test        build, then run the gem's tests, the shared vectors and the seed examples
#     ruby.sh gem DIR     build the distribution profile, and the gem files, the adapters' too, into DIR
#
# PROFILE=debug takes the debug profile.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$HOME/.cargo/bin:$PATH"

what=${1:-build}
profile=${PROFILE:-release}
if [ "$what" = gem ]; then profile=dist; fi
target=${CARGO_TARGET_DIR:-$PWD/target}
case $profile in debug) flags=() ;; *) flags=(--profile "$profile") ;; esac
# OJS_BUILT: the whole workspace has been built a moment ago; this package alone has other features and would be compiled anew.
[ -n "${OJS_BUILT:-}" ] || cargo build --locked -p ojs-ruby "${flags[@]}"

case $(uname -s) in
  Darwin) library=libojs_ruby.dylib extension=bundle ;;
  *)      library=libojs_ruby.so extension=so ;;
esac
place=ruby/lib/ojs/$(ruby -e 'print RbConfig::CONFIG["ruby_version"][/\A\d+\.\d+/]')
mkdir -p "$place"
# The stamp says which profile the library is of: an older one of another profile takes its place all the same.
if [ "$target/$profile/$library" -nt "$place/ojs_ruby.$extension" ] || [ "$(cat "$place/.profile" 2>/dev/null)" != "$profile" ]; then
  # A new file, not new content in the old one: a process may have that one loaded. Without the debug information, which is most of it.
  strip -S -o "$place/.new" "$target/$profile/$library" 2>/dev/null || cp "$target/$profile/$library" "$place/.new"
  mv "$place/.new" "$place/ojs_ruby.$extension"
  echo "$profile" >"$place/.profile"
fi
ruby -Iruby/lib -rojs -e 'puts "ojs #{OJS::VERSION} for Ruby #{RUBY_VERSION} on #{RUBY_PLATFORM}"'

case $what in
  build) ;;
  gem)
    place=$(realpath "${2:?where to? ruby.sh gem DIR}")
    for spec in ruby/ojs.gemspec ruby/adapters/*/*.gemspec; do
      (cd "$(dirname "$spec")" && gem build --quiet "$(basename "$spec")" && mv ojs-*.gem "$place/")
    done
    ls "$place"/ojs-*.gem ;;
  test) exec ruby -Iruby/lib -Iruby/test ruby/test/all.rb --verbose ;;
  *) echo "ruby.sh: there is no '$what'; see its head" >&2; exit 2 ;;
esac
