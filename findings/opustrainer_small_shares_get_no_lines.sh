#!/usr/bin/env bash
# OpusTrainer 0.5: a corpus whose share of a stage is below one percent gives no line at all, and a share of 0.29 becomes 0.28.
#
# What one expects: shares that hold over the stage, as their sum is checked by nobody but the reader. Seen: lines are taken by
# hundreds (--batch-size), and each corpus gives int(100 * share) of them, rounded down: 0 for 0.005, and 28 for 0.29, since
# 0.29 * 100 is 28.999999999999996 in floating point. Nothing is logged. With --batch-size 1000 there are 5 of 1,000 lines.
# Exit code 0: still so. 1: it has changed. 77: the package cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q opustrainer==0.5 || exit 77
for i in $(seq 20000); do printf 'large %s\tgross %s\n' "$i" "$i"; done >large.tsv
for i in $(seq 200); do printf 'small %s\tklein %s\n' "$i" "$i"; done >small.tsv
# shares LARGE SMALL BATCH: of 10,000 lines so many are of the small corpus
shares() {
  printf '%s\n' 'datasets: {large: large.tsv, small: small.tsv}' 'stages: [only]' "only: [large $1, small $2, until large 1]" \
    'modifiers: []' 'seed: 1' >stage.yml
  python/bin/opustrainer-train -c stage.yml -d -b "$3" cat 2>log >lines
  awk -v name="$2 by $3" '{ small += /^small/ } END { printf "%s: %.0f of 10,000\n", name, 10000 * small / NR }' lines
}
{
  shares 0.995 0.005 100
  shares 0.995 0.005 1000
  shares 0.71 0.29 100
} | tee seen
diff seen - <<'TEXT'
0.005 by 100: 0 of 10,000
0.005 by 1000: 50 of 10,000
0.29 by 100: 2828 of 10,000
TEXT
