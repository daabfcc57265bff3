#!/usr/bin/env bash
# Makes the site of the guides and of the reference, build-site/html, and prints its folder. It installs Doxygen (Debian)
# and, in .deps/site, MkDocs with the Material theme, where they are not there. The toolkit need not be built.
#   ./scripts/site.sh
#   NMT_SOURCES_URL=https://HOST/OWNER/nmt/blob/main/ ./scripts/site.sh    links to sources lead there, not to pages of the site
# A dead link, a guide that docs/README.md does not list, a public name without a comment, a page that asks another host
# for something: each ends it with exit code 1 and a line that says where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  '') ;;
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' scripts/site.sh; exit 0 ;;
  *) die "$1: no such option (see --help)" ;;
esac

environment=.deps/site
requirements=scripts/site/requirements.txt
made=$environment/made-with.txt  # written last

command -v doxygen >/dev/null || install_packages doxygen || die "no Doxygen: see above"
if ! cmp -s "$requirements" "$made"; then
  say "making $environment: $(tr '\n' ' ' <"$requirements")"
  { python3 -m venv --clear "$environment" &&
    "$environment/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements"; } >&2 ||
    die "no $environment: see above"
  cp "$requirements" "$made"
fi

version=$(sed -n 's/^project(nmt VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
say "reference"
python3 -B scripts/site/reference.py interfaces/library/include python/nmt "$version" build-site/reference ||
  die "the reference is not complete: see above"
say "pages"
NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 "$environment/bin/mkdocs" build --strict --quiet >&2 ||
  die "mkdocs: see above"
python3 -B scripts/site/check_site.py build-site/html >&2 || die "the site is not as it should be: see above"
printf '%s\n' "$PWD/build-site/html"
