#!/usr/bin/env bash
# Compares a program with a Python package of the development environment: compare.sh SCRIPT.py OPTIONS, with --data added.
# Ends with 77 (skipped) where the packages cannot be installed.
set -euo pipefail
unset CDPATH  # a user's own leads elsewhere

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
script=$1
shift

python=${NMT_DEV_PYTHON:-}
if [ -z "$python" ] && ! python=$("$root/scripts/dev_python.sh"); then
  echo "skipped: what $script compares with could not be installed (scripts/dev_python.sh)"
  exit 77
fi
exec "$python" -B "$here/$script" --data "${NMT_SHARED:-$root/../shared}/data" "$@"
