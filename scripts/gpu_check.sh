#!/usr/bin/env bash
# The first run on a machine with a card, and what it says: set-up, build, all tests labelled gpu, the quick start, 300 updates
# of small, base and big in each precision beside the CPU's losses, kill and resumption, two processes where there are two cards,
# decoding. Writes report.md.
#   ./scripts/gpu_check.sh [--out FOLDER] [--updates 300] [--skip-build]
#   --out FOLDER   where report.md and the logs go; default gpu_check
#   --skip-build   the programs in build/ are used as they are
# Exit code 0: all that could be checked is right. 1: something failed, which report.md names. 2: there is no card.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=gpu_check updates=300 builds=1
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?} && shift 2 ;;
    --updates) updates=${2:?} && shift 2 ;;
    --skip-build) builds=0 && shift ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' scripts/gpu_check.sh; exit 0 ;;
    *) die "$1: no such option; --help names them" ;;
  esac
done

if ! cards=$(nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader 2>/dev/null) ||
  [ -z "$cards" ]; then
  printf '%s: no card: nvidia-smi lists none. Nothing was checked; docs/gpu.md says what is proven without one\n' "${0##*/}" >&2
  exit 2
fi
count=$(wc -l <<<"$cards")
mkdir -p "$out" && out=$(cd "$out" && pwd)
report=$out/report.md
failed=0

tell() { printf '%s\n' "$*" >>"$report"; }
# step NAME COMMAND...: its output goes to a log; a line of the report says how it ended and how long it took.
step() {
  local name=$1 log began=$SECONDS
  shift
  log=$out/$(tr -c 'a-z0-9\n' _ <<<"${name,,}").log
  say "$name"
  if "$@" >"$log" 2>&1; then
    tell "| $name | ok | $((SECONDS - began)) s |"
  else
    failed=1
    tell "| $name | **failed**, see ${log##*/}: $(tail -n 1 "$log" | tr '|' '/' | cut -c1-200) | $((SECONDS - began)) s |"
  fi
}

: >"$report"
tell "# gpu_check, $(date -u +%Y-%m-%d), $(git rev-parse --short HEAD 2>/dev/null || echo 'no repository')"
tell ""
while IFS= read -r card; do tell "* $card"; done <<<"$cards"
tell "* $(nproc) processors, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
tell ""
tell "| step | result | time |"
tell "| --- | --- | --- |"

build() {
  ./scripts/setup.sh
  configure_release -DNMT_BUILD_BENCH=ON
  cmake --build "$build_folder" -j "$(build_jobs)"
}
if [ "$builds" = 1 ]; then step "set-up and build" build; fi
bin=$PWD/$build_folder
sees_card() { "$bin/nmt-eval" --self-test && "$bin/device_peak_bench" cuda 256; }
step "the programs see the card" sees_card
if [ "$failed" = 1 ]; then
  say "see $report"
  exit 1
fi
step "tests labelled gpu" ctest --test-dir "$build_folder" -L gpu --output-on-failure

data=$out/data
make_data() {
  python3 data_scripts/make_builtin_corpus.py --out "$data"
  "$bin/nmt-prepro" -c configs/quickstart.yaml --set "data.dir=$out/prepared" --set "data.train1=$data/train.de" \
    --set "data.train2=$data/train.en" --set "data.eval1=$data/valid.de" --set "data.eval2=$data/valid.en" \
    --set "data.test1=$data/test.de" --set "data.test2=$data/test.en"
}
step "data" make_data

# train NAME DEVICE PRECISION SIZE UPDATES [settings]
train() {
  local name=$1 device=$2 precision=$3 size=$4 count=$5 settings=() setting
  shift 5
  case $size in
    small) settings=(d_model=256 d_ff=1024 num_blocks=3 num_heads=4) ;;
    base) settings=(d_model=512 d_ff=2048 num_blocks=6 num_heads=8) ;;
    big) settings=(d_model=1024 d_ff=4096 num_blocks=6 num_heads=16) ;;
  esac
  local arguments=()
  for setting in "${settings[@]}" dropout_rate=0; do arguments+=(--set "model.$setting"); done
  for setting in "data.dir=$out/prepared" "run.precision=$precision" training.num_epochs=0 "training.max_updates=$count" \
    training.checkpoint_every=100 validation.every=1000000 run.log_every=10 run.tensorboard=false "$@"; do
    arguments+=(--set "$setting")
  done
  "$bin/nmt-train" -c configs/quickstart.yaml --run-dir "$out/runs/$name" --device "$device" "${arguments[@]}" --restart
}
# compare A B TOLERANCE: mean losses at each report of two runs, as far as both go.
compare() {
  python3 - "$out/runs/$1/metrics.jsonl" "$out/runs/$2/metrics.jsonl" "$3" <<'PYTHON'
import json, sys
runs = [{e["update"]: e["loss"] for e in map(json.loads, open(name)) if "target_tokens_per_second" in e}
        for name in sys.argv[1:3]]
both = sorted(runs[0].keys() & runs[1].keys())
worst = max(abs(runs[0][u] - runs[1][u]) / abs(runs[0][u]) for u in both)
print(f"{len(both)} reports, largest difference of losses {worst:.2%}")
sys.exit(worst > float(sys.argv[3]))
PYTHON
}

against_the_cpu() {
  train cpu cpu fp32 small 50
  local precision
  for precision in fp32:0.01 bf16:0.05 fp16:0.05; do
    train "short_${precision%:*}" cuda "${precision%:*}" small 50
    compare cpu "short_${precision%:*}" "${precision#*:}"
  done
}
step "losses of the first 50 updates as on the CPU" against_the_cpu
for size in small base big; do
  for precision in fp32 bf16 fp16; do
    step "$updates updates of $size in $precision" train "${size}_$precision" cuda "$precision" "$size" "$updates"
  done
done

kill_and_resume() {
  local pid
  train killed cuda bf16 small "$updates" &
  pid=$!
  for _ in $(seq 600); do
    if compgen -G "$out/runs/killed/checkpoints/*/state.json" >/dev/null; then break; fi
    sleep 0.1
  done
  pkill -KILL -P "$pid" || true
  wait "$pid" 2>/dev/null || true
  "$bin/nmt-train" -c "$out/runs/killed/config.yaml"
  compare small_bf16 killed 0.05
}
step "a run that is killed goes on" kill_and_resume

two_processes() {
  local rank pids=()
  train one cuda fp32 small 40 training.accumulate=2
  for rank in 0 1; do
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29531 \
      train two cuda fp32 small 40 training.accumulate=2 &
    pids+=($!)
  done
  for rank in "${pids[@]}"; do wait "$rank"; done
  compare one two 0.01
}
if [ "$count" -gt 1 ]; then
  step "two processes on two cards" two_processes
else
  tell "| two processes on two cards | not checked: one card | |"
fi
step "the quick start" "$bin/nmt-train" -c configs/quickstart.yaml --set "data.dir=$out/prepared" \
  --run-dir "$out/runs/quickstart" --device cuda

decode() {
  local precision
  "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device cpu --precision fp32 >"$out/cpu.en"
  for precision in fp32 bf16 fp16; do
    "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device cuda --precision $precision \
      >"$out/$precision.en"
    echo "$precision: $(paste -d '\n' "$out/cpu.en" "$out/$precision.en" | awk 'NR % 2 { one = $0; next } one != $0' |
      wc -l) of $(wc -l <"$out/cpu.en") lines differ from the CPU's"
  done
}
step "decoding as on the CPU" decode

# Figures -----------------------------------------------------------------------------------------------------------------
peak=$("$bin/device_peak_bench" cuda 8192 2>/dev/null || echo '{}')
tell ""
tell "Product of 8192 x 8192 matrices, TFLOP/s: \`$peak\`"
tell ""
tell "## Training"
tell ""
python3 bench/training/gpu.py --data "$out/prepared" --programs "$bin" \
  --peak-tflops "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1]).get("bf16") or 989)' "$peak")" \
  >>"$report" 2>"$out/training_speed.log" || tell "not measured, see training_speed.log"
tell ""
tell "## Decoding"
tell ""
bench/decoding/gpu.sh --model "$out/runs/quickstart/best" --source "$data/test.de" --programs "$bin" \
  >>"$report" 2>"$out/decoding_speed.log" || tell "not measured, see decoding_speed.log"
tell ""
tell "Memory in use at the end: $(nvidia-smi --query-gpu=memory.used --format=csv,noheader | tr '\n' ' ')"
say "report: $report"
exit "$failed"
