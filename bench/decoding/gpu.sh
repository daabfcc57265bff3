#!/usr/bin/env bash
# Decoding speed on a GPU: target tokens a second of nmt-translate, greedy and beam 4, by batch size and precision.
#   bench/decoding/gpu.sh --model DIR --source FILE [--programs build]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build model= source=
while (($#)); do
  case $1 in
    --model) model=$2 ;;
    --source) source=$2 ;;
    --programs) programs=$2 ;;
    *) echo "gpu.sh: unknown option $1; use --model DIR --source FILE [--programs FOLDER]" >&2; exit 2 ;;
  esac
  shift 2
done
[[ -n $model && -n $source ]] || { echo "gpu.sh: --model DIR and --source FILE are needed" >&2; exit 2; }
translate() { "$programs/nmt-translate" -m "$model" --device cuda "$@"; }
if ! problem=$(translate -q --text x 2>&1 >/dev/null); then
  echo "gpu.sh: nothing measured: ${problem##*$'\n'}" >&2
  exit 1
fi
echo "| search | batch | fp32 | bf16 | fp16 |"
echo "| --- | --- | --- | --- | --- |"
for beam in 1 4; do
  for batch in 32 128 512; do
    row="| beam $beam | $batch |"
    for precision in fp32 bf16 fp16; do
      rate=$(translate -i "$source" --beam-size "$beam" --batch-size "$batch" --precision "$precision" 2>&1 >/dev/null |
        grep -oE '[0-9,]+ target tokens/s')
      row+=" ${rate% target*} |"
    done
    echo "$row"
  done
done
