#!/usr/bin/env bash
# Every speed table of docs/results.md, on this machine, one after the other: run it where nothing else runs.
#   bench/run_all.sh --model DIR --data DIR --peers DIR [--libretranslate PYTHON] [--rounds 3] [--only NAME,...] > tables.md
# DIR of --model: a Transformer with sinusoidal positions trained on Multi30k German-English, norm: pre. --data: a folder with
# multi30k/{train,test_2016_flickr}.{de,en}. --peers: the environment of the other toolkits, as bench/training/compare.py says.
# NAME: bound training decoding latency loading data serving (default: all; serving needs --libretranslate).
set -euo pipefail
unset CDPATH  # a user's own leads elsewhere
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rounds=3 only=bound,training,decoding,latency,loading,data,serving model='' data='' peers='' libretranslate=''
while [ $# -gt 0 ]; do
  case "$1" in
    --model) model=$(realpath "$2") ;;
    --data) data=$(realpath "$2") ;;
    --peers) peers=$(realpath "$2") ;;
    --libretranslate) libretranslate=$2 ;;
    --rounds) rounds=$2 ;;
    --only) only=$2 ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
for wanted in model data peers; do
  [ -n "${!wanted}" ] || { echo "run_all.sh: --$wanted is missing (see the head of the file)" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$data/multi30k/test_2016_flickr.de reference=$data/multi30k/test_2016_flickr.en python=$peers/venv/bin/python
wants() { [[ ",$only," == *",$1,"* ]]; }
title() { printf '\n## %s\n\n' "$1"; }
decoding() {
  "$here/decoding/compare.sh" --model "$model" --source "$source" --reference "$reference" --python "$python" --rounds "$rounds" "$@"
}

cd "$here/.."
if wants bound; then
  title "The bound of training"
  for size in small base; do
    for precision in bf16 fp32; do bench/training/bound.py --size "$size" --precision "$precision"; echo; done
  done
fi
if wants training; then
  title "Training"
  bench/training/compare.sh --peers "$peers" --work "$work/training" --rounds "$rounds" --size small --size base
fi
if wants decoding; then
  title "Decoding, small"
  decoding --batch-sizes 32
  title "Decoding, base"
  decoding --batch-sizes 32 --widen
fi
if wants latency; then
  title "One sentence at a time"
  decoding --batch-sizes 1 --latency
fi
if wants loading; then
  title "Loading and memory, base"
  bench/decoding/loading.py --model "$model" --source "$source" --rounds "$rounds"
fi
if wants data; then
  title "Preparing data"
  bench/data/compare.sh --source "$data/multi30k/train.de" --target "$data/multi30k/train.en" --peers "$peers" --rounds "$rounds"
fi
if wants serving && [ -n "$libretranslate" ]; then
  title "Serving"
  bench/server/compare.sh --model "$model" --source "$source" --libretranslate-python "$libretranslate" --rounds "$rounds"
fi
