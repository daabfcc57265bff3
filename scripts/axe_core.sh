#!/usr/bin/env bash
# Gets axe-core, which looks for barriers on a page, from npm into .deps/axe-core, and prints the path of its axe.min.js.
# For the tests of the page of nmt-translate --serve only. Where it cannot be had those tests are skipped, with a notice
# here and exit code 1.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

release=4.14.1
integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
folder=.deps/axe-core
script=$folder/axe.min.js

get() {
  local partial package
  command -v npm >/dev/null || { say "no npm: apt-get install npm"; return 1; }
  mkdir -p .deps && partial=$(mktemp -d .deps/axe-core.XXXXXX) || return 1
  package=$partial/axe-core-$release.tgz
  if (cd "$partial" && npm pack --silent --ignore-scripts "axe-core@$release") >/dev/null &&
    [ "sha512-$(openssl dgst -sha512 -binary "$package" | base64 -w 0)" = "$integrity" ] &&
    tar -xzf "$package" -C "$partial" package/axe.min.js package/LICENSE; then
    rm -rf "$folder" && mv "$partial/package" "$folder" && printf '%s\n' "$release" >"$folder/release"
  fi
  rm -rf "$partial"
  [ "$(cat "$folder/release" 2>/dev/null)" = "$release" ]
}

if [ "$(cat "$folder/release" 2>/dev/null)" != "$release" ] && ! get >&2; then
  say "no axe-core $release (see above): tests of the accessibility of pages are skipped"
  exit 1
fi
printf '%s\n' "$PWD/$script"
