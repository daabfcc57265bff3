#!/usr/bin/env bash
# Whether every C++ file is formatted as .clang-format says, by the clang-format of Debian 12 (14). With --fix it formats
# them. Exit code 1 where a file is not. Without a clang-format of that version it says so and checks nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

format=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$format" ] || ! "$format" --version | grep -q 'version 14\.'; then
  say "no clang-format 14: the format is not checked (apt-get install clang-format-14)"
  exit 0
fi
mapfile -t files < <(git ls-files '*.cpp' '*.h' | while IFS= read -r file; do [ ! -e "$file" ] || printf '%s\n' "$file"; done)
case "${1:-}" in
  '') "$format" --dry-run -Werror "${files[@]}" 2>&1 | grep -E 'error:' | cut -d: -f1 | sort -u | sed 's/$/: not formatted (scripts\/check_format.sh --fix)/' >&2
    [ "${PIPESTATUS[0]}" -eq 0 ] ;;
  --fix) "$format" -i "${files[@]}" ;;
  *) die "$1: no such option" ;;
esac
