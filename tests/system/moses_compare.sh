#!/usr/bin/env bash
# Compares the Moses tokens of nmt-prepro with those of the Python sacremoses: moses_compare.sh NMT_PREPRO [--characters]
# Ends with 77 (skipped) where sacremoses cannot be installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$1
shift

python=${NMT_DEV_PYTHON:-}
if [ -z "$python" ] && ! python=$("$root/scripts/dev_python.sh"); then
  echo "skipped: sacremoses could not be installed (scripts/dev_python.sh), so there is nothing to compare with"
  exit 77
fi
data=${NMT_SHARED:-$root/../shared}/data
exec "$python" -B "$here/moses_compare.py" --nmt-prepro "$program" --data "$data" "$@"
