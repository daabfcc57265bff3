#!/usr/bin/env bash
# sacreBLEU 2.6.0: a system compared with an exact copy of itself has the smallest p-value that there is.
#
# What one expects: p near 1 for two outputs that are the same bytes, as no resample shows a difference. Seen: p = 1/1001
# by paired bootstrap, for a difference counts against the null hypothesis only where it is strictly larger than the one
# observed, and none is larger than 0; and p = 1/10001 by paired approximate randomisation. A table with a duplicated
# column marks it as significantly different.
# Exit code 0: still so. 1: it has changed. 77: the package cannot be had.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python && python/bin/python -m pip install -q sacrebleu==2.6.0 || exit 77
for i in 1 2 3 4 5 6; do echo "Line $i says that the dog sleeps under the table today."; done >reference.txt
sed 's/dog sleeps/hound rests/; 3d;5s/today/now/' reference.txt >one.txt
sed -n 3p reference.txt >>one.txt
cp one.txt other.txt
for test in paired-bs paired-ar; do
  python/bin/python -m sacrebleu reference.txt -i one.txt other.txt -m bleu "--$test" -f json 2>/dev/null |
    python/bin/python -c "import json, sys; a, b = (s['BLEU'] for s in json.load(sys.stdin)); print('$test', a['score'] == b['score'], f\"{b['p_value']:.6f}\")"
done | tee seen
diff seen - <<'TEXT'
paired-bs True 0.000999
paired-ar True 0.000100
TEXT
