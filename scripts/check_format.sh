#!/usr/bin/env bash
# Whether every C++ file is formatted as .clang-format says, by the clang-format of Debian 12 (14), and every page of
# Markdown wrapped as .mdformat.toml says, by the mdformat of .deps/dev. With --fix it formats them. Exit code 1 where a
# file is not. What is missing of the two is said, and checks nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mdformat=("$python_environment/bin/python" -m mdformat --compact-tables)
if ! "${mdformat[@]}" --version >/dev/null 2>&1; then
  say "no mdformat: Markdown is not checked (scripts/dev_python.sh)"
else
  mapfile -t pages < <(git ls-files '*.md' ':!docs/options.md')  # that page is made
  case "${1:-}" in
    '') [ ${#pages[@]} -eq 0 ] || "${mdformat[@]}" --check "${pages[@]}" || die "not wrapped: scripts/check_format.sh --fix" ;;
    --fix) "${mdformat[@]}" "${pages[@]}" ;;
  esac
fi

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
  say "no clang-format 14: the format is not checked (apt-get install clang-format-14)"
  exit 0
fi
mapfile -t files < <(git ls-files '*.cpp' '*.h' | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done)
if [ ${#files[@]} -eq 0 ]; then  # the source of a release: clang-format would read what is typed
  say "git names no files here: the format is not checked"
  exit 0
fi
case "${1:-}" in
  '')
    wrong=$("$format" --dry-run "${files[@]}" 2>&1 | sed -n 's/:[0-9]*:[0-9]*: warning: .*//p' | sort -u)
    [ -z "$wrong" ] || die "not formatted (scripts/check_format.sh --fix): $wrong"
    ;;
  --fix) "$format" -i "${files[@]}" ;;
  *) die "$1: no such option" ;;
esac
