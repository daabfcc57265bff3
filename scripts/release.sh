#!/usr/bin/env bash
# Makes a release of the last commit, in dist/nmt-VERSION/: the source, the archives, the .debs and the wheel of
# scripts/package.sh, the changes (from CHANGELOG.md), a bill of materials (SPDX) and SHA256SUMS.
#   scripts/release.sh VERSION [--twice]     --twice: builds a second time, in another folder and with a ccache of its
#                                            own (.cache/second-ccache), and fails where a byte differs
#   scripts/release.sh --check VERSION       only looks whether the tree is ready for it
# It tags nothing and uploads nothing: the last lines say what is left to do. docs/building.md says what it checks.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

check_only=
twice=
version=
for argument in "$@"; do
  case $argument in
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/release.sh; exit 0 ;;
    --check) check_only=1 ;;
    --twice) twice=1 ;;
    -*) die "$argument: no such option (see --help)" ;;
    *) version=$argument ;;
  esac
done
[ -n "$version" ] || die "which version? scripts/release.sh VERSION (see --help)"

# changes_of VERSION: its section of CHANGELOG.md, without the heading.
changes_of() { awk -v heading="## [$1]" 'index($0, "## [") == 1 { on = index($0, heading) == 1; next } on' CHANGELOG.md; }

check_version() {
  local here heading
  [[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || die "$version: not MAJOR.MINOR.PATCH (semver.org)"
  here=$(sed -n 's/^project(nmt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  [ "$here" = "$version" ] || die "CMakeLists.txt says $here: set project(nmt VERSION $version)"
  if [ -e pyproject.toml ]; then
    here=$(sed -n 's/^version *= *"\(.*\)"/\1/p' pyproject.toml | head -n 1)
    [ -z "$here" ] || [ "$here" = "$version" ] || die "pyproject.toml says $here: set version = \"$version\""
  fi
  heading=$(grep -F "## [$version]" CHANGELOG.md) || die "CHANGELOG.md has no section $version: add \"## [$version] - YYYY-MM-DD\""
  [[ $heading =~ ^'## ['"$version"'] - '[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
    die "CHANGELOG.md: \"$heading\" has to be \"## [$version] - YYYY-MM-DD\""
  changes_of "$version" | grep '^- ' >/dev/null || die "CHANGELOG.md: the section $version lists no change"
  ! changes_of Unreleased | grep '^- ' >/dev/null || die "CHANGELOG.md: changes are left below [Unreleased]: move them to $version"
}

check_tree() {
  local top changes
  # In a folder inside somebody's clone git would tell that clone's state.
  top=$(git rev-parse --show-toplevel) && [ "$top" -ef . ] ||
    die "this folder is no git clone: a release is made of a commit"
  changes=$(git status --porcelain) || die "git status failed: see above"
  [ -z "$changes" ] || die "the tree has changes that are not committed (git status)"
  ! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "the tag v$version is there already"
}

check_version
check_tree
if [ -n "$check_only" ]; then
  say "$version can be released"
  exit 0
fi

python=$(./scripts/dev_python.sh) && checker=$(dirname "$python")/pyspdxtools && [ -x "$checker" ] ||
  die "no spdx-tools, which checks the bill of materials: see above"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
out=dist/nmt-$version
rm -rf "$out" dist/*.deb dist/*.tar.gz dist/*.tar.xz dist/*.whl
mkdir -p "$out"
./scripts/package.sh
mv dist/*.deb dist/*.tar.gz dist/*.tar.xz dist/*.whl "$out"

if [ -n "$twice" ]; then
  say "building a second time"
  again=$(mktemp -d)
  trap 'rm -rf "$again"' EXIT
  git clone -q --no-hardlinks . "$again/other/place"
  ln -s "$PWD/.deps" "$again/other/place/.deps"
  # No object of the first build; those of an earlier second one save the time.
  second_cache=$PWD/.cache/second-ccache
  (cd "$again/other/place" && CCACHE_DIR=$second_cache ./scripts/package.sh) || die "the second build failed: see above"
  for file in "$out"/*; do
    cmp "$file" "$again/other/place/dist/${file##*/}" || die "${file##*/} has other bytes the second time"
    say "the same bytes twice: ${file##*/}"
  done
fi

git archive --format=tar --prefix="nmt-$version/" HEAD | gzip -9n >"$out/nmt-$version.tar.gz"
changes_of "$version" >"$out/CHANGES.md"
artifacts=()
for file in "$out"/*.tar.gz "$out"/*.tar.xz "$out"/*.deb "$out"/*.whl; do artifacts+=(--artifact "$file"); done
python3 scripts/sbom.py --version "$version" --notice NOTICE "${artifacts[@]}" --linked "nanobind=$nanobind_release" \
  --folder "build-package/stage/nmt-$version-linux-$(uname -m)" >"$out/nmt-$version.spdx.json"
"$checker" -i "$out/nmt-$version.spdx.json" >&2 || die "the bill of materials is not valid SPDX: see above"
(cd "$out" && sha256sum -- * >SHA256SUMS)
cat "$out/SHA256SUMS"
say "$out is complete. Left to do: scripts/try_packages.sh ROOT, git tag -a v$version, publish"
