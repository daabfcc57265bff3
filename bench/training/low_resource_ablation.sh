#!/usr/bin/env bash
# What makes the data of configs/iwslt14_de_en_20k.yaml vary, side by side on one card for so many minutes: nothing, BPE-dropout,
# R-Drop (the preset), SimCut, sampled unigram pieces. Under NVIDIA's MPS, where its daemon is there. Each run then chooses
# one of two length penalties on the validation set and translates the test set once. Prints a Markdown row for each.
#   bench/training/low_resource_ablation.sh [--programs build] [--minutes 10] [--seed 1] [--device cuda] [--work runs/ablation] [RUN ...]
# RUN: none bpe rdrop rdrop_bpe simcut unigram; without any, all of them. The corpus lies where the preset says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

programs=build minutes=10 seed=1 device=cuda work=runs/ablation runs=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --programs | --minutes | --seed | --device | --work) declare "${1#--}=${2:?$1 needs a value}"; shift 2 ;;
    none | bpe | rdrop | rdrop_bpe | simcut | unigram) runs+=("$1"); shift ;;
    *) echo "$1: unknown; see --help" >&2; exit 2 ;;
  esac
done
[ ${#runs[@]} -gt 0 ] || runs=(none bpe rdrop rdrop_bpe simcut unigram)
preset=configs/iwslt14_de_en_20k.yaml data=data/iwslt14_20k
mkdir -p "$work"

settings_of() {  # RUN: words, none of which holds a space (--work may not either)
  local bpe="--set training.bpe_dropout1=0.1 --set training.bpe_dropout2=0.1" plain="--set training.objective=cross_entropy"
  case $1 in
    none) echo "$plain" ;;
    bpe) echo "$plain $bpe" ;;
    rdrop) ;;
    rdrop_bpe) echo "$bpe" ;;
    simcut) echo "--set training.objective=simcut" ;;
    unigram) echo "$plain --set data.dir=$work/unigram_pieces --set data.spm_type=unigram --set training.unigram_alpha1=0.5 --set training.unigram_alpha2=0.5" ;;
  esac
}

bleu() { "$programs/nmt-score" "$1" -i "$2" --tokenize none --force -b -w 2; }
translate() {  # RUN SPLIT PENALTY: writes RUN.SPLIT.PENALTY
  "$programs/nmt-eval" -m "$work/$1/best" --device "$device" --threads 1 --source "$data/$2.de" --reference "$data/$2.en" --no-loss --batch-size 256 \
    --beam-size 5 --length-penalty "$3" --length-penalty-form simple --hypotheses-out "$work/$1.$2.$3" >>"$work/$1.log" 2>&1
}
one_run() {
  local run=$1 penalty best=0 chosen=1 figure
  # shellcheck disable=SC2046  # words
  "$programs/nmt-train" -c "$preset" $(settings_of "$run") --device "$device" --run-dir "$work/$run" --set run.threads=1 --set "run.seed=$seed" \
    --set run.tensorboard=false --set training.num_epochs=0 --set "training.max_minutes=$minutes" --set training.checkpoint_every=330 \
    --set validation.every=1650 --set 'validation.metrics=[loss, bleu]' --set decoding.batch_size=256 >"$work/$run.log" 2>&1
  for penalty in 1 1.5; do
    translate "$run" valid "$penalty"
    figure=$(bleu "$data/valid.en" "$work/$run.valid.$penalty")
    if awk "BEGIN { exit !($figure > $best) }"; then best=$figure chosen=$penalty; fi
  done
  translate "$run" test "$chosen"
  local epochs; epochs=$(grep -c ' is done: loss' "$work/$run.log" || true)
  echo "| $run | $epochs | $best ($chosen) | $(bleu "$data/test.en" "$work/$run.test.$chosen") |" >"$work/$run.row"
}

for run in "${runs[@]}"; do  # one after the other: they write the same folder
  rm -f "$work/$run.row"      # of an earlier time
  # shellcheck disable=SC2046
  "$programs/nmt-prepro" -c "$preset" $(settings_of "$run") >"$work/prepro.log" 2>&1 || { cat "$work/prepro.log" >&2; exit 1; }
done
if [ "$device" = cuda ] && command -v nvidia-cuda-mps-control >/dev/null; then nvidia-cuda-mps-control -d || true; fi
for run in "${runs[@]}"; do one_run "$run" & done
wait
echo "| run | epochs | BLEU, validation set (length penalty) | BLEU, test set |"
echo "| --- | --- | --- | --- |"
for run in "${runs[@]}"; do
  if [ -e "$work/$run.row" ]; then cat "$work/$run.row"; else echo "$run ended early, see $work/$run.log" >&2; failed=1; fi
done
exit "${failed:-0}"
