#!/usr/bin/env bash
# The first run on a machine with a card, and what it says: set-up, build, all tests labelled gpu, the quick start, 300 updates
# of small, base and big in each precision beside the CPU's losses, kill and resumption, two processes where there are two cards,
# decoding beside CTranslate2. Writes report.md.
#   ./scripts/gpu_check.sh [--out FOLDER] [--updates 300] [--skip-build] [--offline BUNDLE] [--rehearse]
#   --out FOLDER      where report.md and the logs go; default gpu_check
#   --skip-build      the programs in build/ are used as they are
#   --offline BUNDLE  no network, no compiler: programs of scripts/gpu_bundle.sh (the archive, or the folder that it was
#                     unpacked to); LibTorch is that of the machine's Python package torch, 2.11.0 for CUDA 13
#   --rehearse        without a card: every step on the simulated device of the tests, in small
# NMT_GPU_PYTHON: a Python that has ctranslate2 and sentencepiece; without it one is made, where there is a network.
# Exit code 0: all that could be checked is right. 1: something failed, which report.md names. 2: it cannot be checked here.
from=$PWD libraries=''
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=gpu_check updates=300 builds=1 bundle='' rehearses=0
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?} && shift 2 ;;
    --updates) updates=${2:?} && shift 2 ;;
    --skip-build) builds=0 && shift ;;
    --offline) bundle=${2:?} && shift 2 ;;
    --rehearse) rehearses=1 builds=0 && shift ;;
    -h | --help) sed -n '2,14s/^# \{0,1\}//p' scripts/gpu_check.sh; exit 0 ;;
    *) die "$1: no such option; --help names them" ;;
  esac
done
refuse() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s' "$from/$1" ;; esac; }
out=$(absolute "$out")

# The folder of the Python package torch, without importing it.
torch_package() {
  python3 -c 'import importlib.util as find; spec = find.find_spec("torch"); print(spec.submodule_search_locations[0] if spec else "")'
}
# Programs that were built elsewhere: where they are, what they load, whether they start.
open_bundle() {
  local torch version folder
  bundle=$(absolute "$bundle")
  if [ -f "$bundle" ]; then
    mkdir -p "$out" && tar -C "$out" -xf "$bundle" || refuse "$bundle: cannot be unpacked"
    bundle=$out/nmt-gpu
  fi
  [ -x "$bundle/build/nmt-train" ] || refuse "$bundle: not what scripts/gpu_bundle.sh makes: no build/nmt-train"
  command -v python3 >/dev/null || refuse "no python3, whose torch has LibTorch's libraries"
  cd "$bundle"
  torch=$(torch_package)
  [ -n "$torch" ] || refuse "python3 has no torch: install torch $(cat torch_version) (for CUDA 13) there"
  version=$(sed -n "s/^__version__ = '\(.*\)'.*/\1/p" "$torch/version.py")
  [ "${version%%+*}" = "$(cat torch_version)" ] && [ -e "$torch/lib/libtorch_cuda.so" ] ||
    refuse "python3 has torch $version; the programs of $bundle need $(cat torch_version) for CUDA 13"
  libraries=$torch/lib:$bundle/lib
  # CUDA's own, which pip puts beside torch; LibTorch finds them by itself, the programs do not.
  for folder in "${torch%/*}"/nvidia/*/lib; do
    if [ -d "$folder" ]; then libraries+=:$folder; fi
  done
  build_folder=build builds=0
  LD_LIBRARY_PATH=$libraries build/nmt-train --version >/dev/null || refuse "build/nmt-train does not start here, see above"
}
if [ -n "$bundle" ]; then open_bundle; fi

device=cuda cards='' count=1
if [ "$rehearses" = 1 ]; then
  for file in tests/libsimulated_device.so bench/device_peak_bench; do
    [ -e "$build_folder/$file" ] || refuse "no $build_folder/$file: build first, with -DNMT_BUILD_BENCH=ON"
  done
  device=auto cards="a rehearsal on the simulated device: no card, and no figure means anything"
elif ! cards=$(nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader 2>/dev/null) ||
  [ -z "$cards" ]; then
  refuse "no card: nvidia-smi lists none. Nothing was checked; docs/gpu.md says what is proven without one"
else
  count=$(wc -l <<<"$cards")
fi
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
  ("$@") >"$log" 2>&1 &  # not as a condition, in which the shell continues after a command that failed
  if wait "$!"; then
    tell "| $name | ok$(sed -n 's/^report: / /p' "$log" | tr '\n' ';') | $((SECONDS - began)) s |"
  else
    failed=1
    tell "| $name | **failed**, see ${log##*/}: $(tail -n 1 "$log" | tr '|' '/' | cut -c1-200) | $((SECONDS - began)) s |"
  fi
}

: >"$report"
tell "# gpu_check, $(date -u +%Y-%m-%d), $(git rev-parse --short HEAD 2>/dev/null || cat revision 2>/dev/null || echo 'no repository')"
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
# wrap NAME=VALUE...: the same programs, started with variables of their own. Not for all of this script: python3 and nvidia-smi
# have libraries of their own.
wrap() {
  local program name
  for program in "$bin"/nmt-* "$bin"/bench/*_bench "$bin"/tests/test_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    name=$out/programs/${program#"$bin/"}
    mkdir -p "${name%/*}"
    { printf '#!/bin/sh\nexec env' && printf ' %q' "$@" "$program" && printf ' "$@"\n'; } >"$name"
    chmod +x "$name"
  done
  bin=$out/programs
}
variables=()
if [ -n "$bundle" ]; then variables+=("LD_LIBRARY_PATH=$libraries"); fi
if [ "$rehearses" = 1 ]; then  # they find the simulated device when they start
  variables+=("LD_PRELOAD=$bin/tests/libsimulated_device.so")
fi
if [ ${#variables[@]} -gt 0 ]; then wrap "${variables[@]}"; fi
n=8192
if [ "$rehearses" = 1 ]; then n=64 updates=12; fi
sees_card() {
  "$bin/nmt-eval" --self-test
  "$bin/bench/device_peak_bench" "$device" 64
}
step "the programs see the device" sees_card
if [ "$failed" = 1 ]; then
  say "see $report"
  exit 1
fi
tests() {
  local test
  if [ -z "$bundle" ]; then ctest --test-dir "$build_folder" -L gpu --output-on-failure; return; fi
  while read -r test; do
    NMT_SOURCE_DIR=$PWD NVIDIA_TF32_OVERRIDE=0 "$bin/tests/$test" --gtest_brief=1
  done <gpu_tests
}
if [ "$rehearses" = 0 ]; then step "tests labelled gpu" tests; fi

# All of it has one configuration: a training asks for the very options that its data were prepared with.
data=$out/data config=$out/config.yaml
make_data() {
  python3 data_scripts/make_builtin_corpus.py --out "$data"
  if [ "$rehearses" = 1 ]; then
    local file
    for file in "$data"/*.de "$data"/*.en; do head -n 300 "$file" >"$file.cut" && mv "$file.cut" "$file"; done
    for file in "$data"/valid.* "$data"/test.*; do head -n 6 "$file" >"$file.cut" && mv "$file.cut" "$file"; done
  fi
  "$bin/nmt-prepro" -c configs/quickstart.yaml --set "data.dir=$out/prepared" --set "data.train1=$data/train.de" \
    --set "data.train2=$data/train.en" --set "data.eval1=$data/valid.de" --set "data.eval2=$data/valid.en" \
    --set "data.test1=$data/test.de" --set "data.test2=$data/test.en" $([ "$rehearses" = 0 ] || echo --set data.vocab_size=300) \
    --print-config >"$config"
  "$bin/nmt-prepro" -c "$config"
}
step "data" make_data

# train NAME DEVICE PRECISION SIZE UPDATES [settings]
train() {
  local name=$1 on=$2 precision=$3 size=$4 number=$5 settings=() setting
  shift 5
  case $size in
    small) settings=(d_model=256 d_ff=1024 num_blocks=3 num_heads=4) ;;
    base) settings=(d_model=512 d_ff=2048 num_blocks=6 num_heads=8) ;;
    big) settings=(d_model=1024 d_ff=4096 num_blocks=6 num_heads=16) ;;
  esac
  if [ "$rehearses" = 1 ]; then settings=(d_model=16 d_ff=32 num_blocks=1 num_heads=2); fi
  local arguments=()
  for setting in "${settings[@]}" dropout_rate=0; do arguments+=(--set "model.$setting"); done
  for setting in "run.precision=$precision" training.num_epochs=0 "training.max_updates=$number" \
    "training.checkpoint_every=$((number / 3 > 0 ? number / 3 : 1))" validation.every=1000000 \
    "run.log_every=$((updates < 30 ? 2 : 10))" run.tensorboard=false "$@"; do
    arguments+=(--set "$setting")
  done
  "$bin/nmt-train" -c "$config" --run-dir "$out/runs/$name" --device "$on" "${arguments[@]}" --restart
}
# compare A B TOLERANCE: mean losses at each report of two runs, as far as both go.
compare() {
  python3 - "$out/runs/$1/metrics.jsonl" "$out/runs/$2/metrics.jsonl" "$3" <<'PYTHON'
import json, sys
runs = [{e["update"]: e["loss"] for e in map(json.loads, open(name)) if "target_tokens_per_second" in e}
        for name in sys.argv[1:3]]
both = sorted(runs[0].keys() & runs[1].keys())
worst = max(abs(runs[0][u] - runs[1][u]) / abs(runs[0][u]) for u in both)
print(f"report: {len(both)} reports, largest difference of losses {worst:.2%}")
sys.exit(worst > float(sys.argv[3]))
PYTHON
}

some=$((updates < 50 ? updates : 50))
against_the_cpu() {
  train cpu cpu fp32 small "$some"
  local precision
  for precision in fp32:0.01 bf16:0.05 fp16:0.05; do
    train "short_${precision%:*}" "$device" "${precision%:*}" small "$some"
    compare cpu "short_${precision%:*}" "${precision#*:}"
  done
}
step "losses of the first $some updates as on the CPU" against_the_cpu
for size in small base big; do
  for precision in fp32 bf16 fp16; do
    step "$updates updates of $size in $precision" train "${size}_$precision" "$device" "$precision" "$size" "$updates"
  done
done

kill_and_resume() {
  local pid
  train killed "$device" bf16 small "$updates" &
  pid=$!
  for _ in $(seq 1200); do
    if compgen -G "$out/runs/killed/checkpoints/*/state.json" >/dev/null || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
  done
  pkill -KILL -P "$pid" || true
  wait "$pid" 2>/dev/null || true
  "$bin/nmt-train" -c "$out/runs/killed/config.yaml"
  compare small_bf16 killed 0.05
}
step "a killed run resumes" kill_and_resume

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
  tell "| two processes on two cards | not checked: one device | |"
fi
quickstart() {
  local shorter=()
  if [ "$rehearses" = 1 ]; then
    shorter=(--set training.max_updates=8 --set validation.every=8 --set training.checkpoint_every=8 --set model.d_model=16
      --set model.d_ff=32 --set model.num_heads=2 --set model.num_blocks=1)
  fi
  "$bin/nmt-train" -c "$config" --run-dir "$out/runs/quickstart" \
    --device "$device" "${shorter[@]}" --restart
}
step "the quick start" quickstart

decode() {
  local precision
  "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device cpu --precision fp32 >"$out/cpu.en"
  for precision in fp32 bf16 fp16; do
    "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device "$device" --precision $precision \
      >"$out/$precision.en"
    echo "report: $precision: $(paste -d '\n' "$out/cpu.en" "$out/$precision.en" |
      awk 'NR % 2 { one = $0; next } one != $0' | wc -l) of $(wc -l <"$out/cpu.en") lines differ from the CPU's"
  done
}
step "decoding as on the CPU" decode

# Figures -----------------------------------------------------------------------------------------------------------------
# A Python with CTranslate2 and the libraries of CUDA 12 that its wheels load; prints it, or nothing.
ctranslate2_python() {
  local folder=$out/ctranslate2
  if [ -n "${NMT_GPU_PYTHON:-}" ]; then printf '%s' "$NMT_GPU_PYTHON"; return; fi
  if [ -n "$bundle" ] || [ "$rehearses" = 1 ]; then return; fi
  { python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check ctranslate2==4.8.5 \
    sentencepiece==0.2.0 nvidia-cublas-cu12 nvidia-cudnn-cu12; } >"$out/ctranslate2.log" 2>&1 || return 0
  printf '#!/bin/bash\nLD_LIBRARY_PATH=%q$LD_LIBRARY_PATH exec %q "$@"\n' \
    "$(printf '%s:' "$folder"/lib/python3*/site-packages/nvidia/*/lib)" "$folder/bin/python" >"$folder/python-cuda"
  chmod +x "$folder/python-cuda"
  printf '%s' "$folder/python-cuda"
}
peak=$("$bin/bench/device_peak_bench" "$device" "$n" 2>/dev/null || echo '{}')
tell ""
tell "Product of $n x $n matrices, TFLOP/s: \`$peak\`"
tell ""
tell "## Training"
tell ""
if [ "$rehearses" = 0 ]; then
  python3 bench/training/gpu.py --data "$out/prepared" --programs "$bin" \
    --peak-tflops "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1]).get("bf16") or 989)' "$peak")" \
    >>"$report" 2>"$out/training_speed.log" || tell "not measured, see training_speed.log"
else
  python3 bench/training/gpu.py --data "$out/prepared" --programs "$bin" --device "$device" --size tiny --precision bf16 \
    --tokens 200 --updates 40 --peak-tflops 1 >>"$report" 2>"$out/training_speed.log" ||
    { failed=1; tell "**not measured**, see training_speed.log"; }
fi
tell ""
tell "## Decoding"
tell ""
python=$(ctranslate2_python)
few=()
if [ "$rehearses" = 1 ]; then few=(--batch-sizes 4 --lines 6); fi
bench/decoding/gpu.sh --model "$out/runs/quickstart/best" --source "$data/test.de" --programs "$bin" --device "$device" \
  ${python:+--python "$python"} "${few[@]}" >>"$report" 2>"$out/decoding_speed.log" ||
  { [ "$rehearses" = 0 ] || failed=1; tell "not measured, see decoding_speed.log"; }
tell ""
if [ "$rehearses" = 0 ]; then
  tell "Memory in use at the end: $(nvidia-smi --query-gpu=memory.used --format=csv,noheader | tr '\n' ' ')"
fi
say "report: $report"
exit "$failed"
