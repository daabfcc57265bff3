#!/usr/bin/env bash
# Compares nmt-score with the Python sacreBLEU: scoring_compare.sh NMT_SCORE [--quick]
# Ends with 77 (skipped) where sacreBLEU cannot be installed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$1
shift

python=${NMT_DEV_PYTHON:-}
if [ -z "$python" ] && ! python=$("$root/scripts/dev_python.sh"); then
  echo "skipped: sacreBLEU could not be installed (scripts/dev_python.sh), so there is nothing to compare with"
  exit 77
fi
data=${NMT_SHARED:-$root/../shared}/data
exec "$python" "$here/scoring_compare.py" --nmt-score "$program" --data "$data" "$@"
