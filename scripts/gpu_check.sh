#!/usr/bin/env bash
# The first run on a machine with a card, and what it says, in report.md: set-up and build, then the steps that `--list` names,
# in that order, each with its own time limit.
#   ./scripts/gpu_check.sh [--out FOLDER] [--updates 300] [--steps NAME,...] [--skip-build] [--offline BUNDLE] [--rehearse]
#   ./scripts/gpu_check.sh --kernels     the kernels of kernels/ beside their twins, alone: a minute, without a build
#   --out FOLDER      where report.md and the logs go; default gpu_check
#   --steps NAME,...  these steps alone, where a card is lent for minutes at a time; what they need of others is made
#   --list            the steps, their limits in seconds, and whether they need a card
#   --skip-build      the programs in build/ are used as they are
#   --offline BUNDLE  no network, no compiler: programs of scripts/gpu_bundle.sh (the archive, or the folder that it was
#                     unpacked to); LibTorch is that of the machine's Python package torch, 2.11.0 for CUDA 13
#   --rehearse        without a card: every step on the simulated device of the tests, in small, but those of kernels
# NMT_GPU_PYTHON: a Python that has ctranslate2 and sentencepiece; without it one is made, where there is a network.
# NMT_GPU_EXTRAS: a folder with what the project does not hold (docs/gpu.md); a bundle brings its own.
# Exit code 0: all that could be checked is right. 1: something failed, which report.md names. 2: it cannot be checked here;
# without a card report.md says of each step that it was skipped.
from=$PWD libraries=''
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

out=gpu_check updates=300 builds=1 bundle='' rehearses=0 only='' lists=0
while [ $# -gt 0 ]; do
  case $1 in
    --out) out=${2:?} && shift 2 ;;
    --updates) updates=${2:?} && shift 2 ;;
    --steps) only=,${2:?}, && shift 2 ;;
    --kernels) only=,kernels, builds=0 && shift ;;
    --list) lists=1 builds=0 && shift ;;
    --skip-build) builds=0 && shift ;;
    --offline) bundle=${2:?} && shift 2 ;;
    --rehearse) rehearses=1 builds=0 && shift ;;
    -h | --help) sed -n '2,20s/^# \{0,1\}//p' scripts/gpu_check.sh; exit 0 ;;
    *) die "$1: no such option; --help names them" ;;
  esac
done
refuse() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s' "$from/$1" ;; esac; }
out=$(absolute "$out") extras=${NMT_GPU_EXTRAS:+$(absolute "$NMT_GPU_EXTRAS")}
if [ "$lists" = 1 ]; then bundle=''; fi

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
  sha256sum --quiet --strict -c files.sha256 || refuse "$bundle: damaged or not whole, see above: carry it once more"
  extras=$bundle/extras
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
  device='' count=0 builds=0 cards="no card: nvidia-smi lists none"
else
  count=$(wc -l <<<"$cards")
fi
report=$out/report.md
failed=0

tell() { printf '%s\n' "$*" >>"$report"; }
# step NAME LIMIT NEED WHAT COMMAND...: its output goes to NAME.log; a line of the report says how it ended and how long it took.
# It ends with its own processes after LIMIT seconds. NEED card: it is skipped where there is none; nothing: it is not.
running=''
trap '[ -z "$running" ] || kill -TERM -- "-$running" 2>/dev/null; exit 130' INT TERM
step() {
  local name=$1 limit=$2 need=$3 what=$4 log=$out/$1.log began=$SECONDS guard status=0
  shift 4
  if [ "$lists" = 1 ]; then printf '%-12s %4s s  %-8s %s\n' "$name" "$limit" "$need" "$what"; return; fi
  if [ -n "$only" ] && [[ $only != *,$name,* ]]; then return; fi
  if [ "$need" = card ] && [ -z "$device" ]; then tell "| $what | skipped: no card | |"; return; fi
  say "$what"
  set -m  # a process group of its own, which ends as a whole
  ("$@") >"$log" 2>&1 &  # not as a condition, in which the shell continues after a command that failed
  running=$!
  (sleep "$limit" && echo "took more than $limit s" >>"$log" && kill -TERM -- "-$running") &
  guard=$!
  set +m
  wait "$running" || status=$?
  kill -TERM -- "-$guard" 2>/dev/null || true
  running=''
  if [ "$status" = 0 ]; then
    tell "| $what | ok$(sed -n 's/^report: / /p' "$log" | tr '\n' ';') | $((SECONDS - began)) s |"
  elif [ "$status" = "$skips" ]; then
    tell "| $what | skipped: $(tail -n 1 "$log" | tr '|' '/' | cut -c1-200) | |"
  else
    failed=1
    tell "| $what | **failed**, see ${log##*/}: $(tail -n 1 "$log" | tr '|' '/' | cut -c1-200) | $((SECONDS - began)) s |"
  fi
}
skips=77
skip() { printf '%s\n' "$*"; exit "$skips"; }  # for a step: what it needs is not there

if [ "$lists" = 1 ]; then report=/dev/null; fi
if [ "$lists" = 0 ]; then mkdir -p "$out" && : >"$report"; fi
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
if [ "$builds" = 1 ]; then step build 7200 nothing "set-up and build" build; fi
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
step device 60 card "the programs see the device" sees_card
if [ "$failed" = 1 ]; then
  say "see $report"
  exit 1
fi
kernels() {
  if [ "$rehearses" = 1 ]; then skip "no kernels on the simulated device: tests/kernels runs them in Triton's interpreter"; fi
  NMT_KERNELS_ON=card python3 -B tests/kernels/test_kernels.py
  python3 -B bench/training/card_kernels.py >"$out/kernels.md"
}
tables=(kernels)  # each of a step; the report ends with them
step kernels 180 card "kernels beside their twins" kernels

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
has_programs() { [ -x "$bin/nmt-train" ] || [ "$lists" = 1 ]; }
if [ "$only" != ,kernels, ] && has_programs && [ ! -e "$config" ]; then
  steps=$only only=''
  step data 120 nothing "data" make_data
  only=$steps
fi

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
step losses 300 card "losses of the first $some updates as on the CPU" against_the_cpu

packed_updates() {
  train packed "$device" bf16 base "$some"
  train general "$device" bf16 base "$some" training.gradient_checkpointing=true  # which the kernels do not take
  compare general packed 0.02
  if [ "$rehearses" = 1 ]; then return; fi
  sed -n 's/.*updates: /report: /p' "$out/runs/packed/log.txt"
  grep -q 'updates: packed' "$out/runs/packed/log.txt"
}
step packed 120 card "losses of packed updates as on the general path" packed_updates

training_speed() {
  local peak arguments=(--size small --size base --size big --precision bf16)
  peak=$("$bin/bench/device_peak_bench" "$device" "$n")
  echo "report: product of $n x $n matrices, TFLOP/s: $peak"
  if [ "$rehearses" = 1 ]; then arguments=(--size tiny --precision bf16 --tokens 200 --updates 40); fi
  python3 bench/training/gpu.py --data "$out/prepared" --programs "$bin" --device "$device" "${arguments[@]}" \
    --peak-tflops "$(python3 -c 'import json, sys; print(json.loads(sys.argv[1]).get("bf16") or 989)' "$peak")" \
    >"$out/training_speed.md"
}
tables+=(training_speed)
step training 420 card "training speed" training_speed
# Plain PyTorch over the same text, eager and compiled; its own last line is the figure.
peer_speed() {
  local peer=$extras/gpu_pytorch.py size way
  if [ "$rehearses" = 1 ]; then skip "it knows no simulated device"; fi
  [ -e "$peer" ] || skip "no gpu_pytorch.py in NMT_GPU_EXTRAS (${extras:-not set})"
  python3 -c 'import sentencepiece' || skip "python3 has no sentencepiece"
  for size in small base big; do
    for way in '' --compile; do
      echo "report: $size $way: $(python3 "$peer" --spm "$out/prepared/spm.model" --source "$data/train.de" \
        --target "$data/train.en" --size "$size" $way | tail -n 1)"
    done
  done
}
step peer 600 card "plain PyTorch on the same card" peer_speed

shorter=()
if [ "$rehearses" = 1 ]; then
  shorter=(--set training.max_updates=8 --set validation.every=8 --set training.checkpoint_every=8 --set model.d_model=16
    --set model.d_ff=32 --set model.num_heads=2 --set model.num_blocks=1)
fi
quickstart() {
  "$bin/nmt-train" -c "$config" --run-dir "$out/runs/quickstart" \
    --device "$device" "${shorter[@]}" --restart
}
step quickstart 300 card "the quick start" quickstart

decode() {
  local precision
  has_model
  "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device cpu --precision fp32 >"$out/cpu.en"
  for precision in fp32 bf16 fp16; do
    "$bin/nmt-translate" -m "$out/runs/quickstart/best" -i "$data/test.de" -q --device "$device" --precision $precision \
      >"$out/$precision.en"
    echo "report: $precision: $(paste -d '\n' "$out/cpu.en" "$out/$precision.en" |
      awk 'NR % 2 { one = $0; next } one != $0' | wc -l) of $(wc -l <"$out/cpu.en") lines differ from the CPU's"
  done
}
has_model() { [ -e "$out/runs/quickstart/best" ] || skip "no model: the step quickstart makes it"; }
step decode 120 card "decoding as on the CPU" decode

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
decoding_speed() {
  local python few=()
  has_model
  python=$(ctranslate2_python)
  if [ "$rehearses" = 1 ]; then few=(--batch-sizes 4 --lines 6); fi
  bench/decoding/gpu.sh --model "$out/runs/quickstart/best" --source "$data/test.de" --programs "$bin" --device "$device" \
    ${python:+--python "$python"} "${few[@]}" >"$out/decoding_speed.md"
}
tables+=(decoding_speed)
step decoding 420 card "decoding speed beside CTranslate2" decoding_speed

multi30k() {
  local files=$extras/multi30k settings=() key
  [ -e "$files/train.de" ] || skip "no multi30k/ with {train,val,test_2016_flickr}.{de,en} in NMT_GPU_EXTRAS (${extras:-not set})"
  for key in train:train eval:val test:test_2016_flickr; do
    settings+=(--set "data.${key%:*}1=$files/${key#*:}.de" --set "data.${key%:*}2=$files/${key#*:}.en")
  done
  settings+=(--set "data.dir=$out/multi30k")
  if [ "$rehearses" = 1 ]; then settings+=(--set data.vocab_size=300); fi
  "$bin/nmt-prepro" -c configs/multi30k_best.yaml "${settings[@]}" --print-config >"$out/multi30k.yaml"
  "$bin/nmt-prepro" -c "$out/multi30k.yaml"
  "$bin/nmt-train" -c "$out/multi30k.yaml" --run-dir "$out/runs/multi30k" --device "$device" "${shorter[@]}" --restart
  "$bin/nmt-eval" -c "$out/multi30k.yaml" -m "$out/runs/multi30k/best" --device "$device" | tee "$out/multi30k.txt"
  echo "report: $(tail -n 1 "$out/multi30k.txt")"
}
step multi30k 480 card "Multi30k" multi30k

kill_and_resume() {
  local pid
  train unkilled "$device" bf16 small "$updates"
  train killed "$device" bf16 small "$updates" &
  pid=$!
  for _ in $(seq 1200); do
    if compgen -G "$out/runs/killed/checkpoints/*/state.json" >/dev/null || ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
  done
  pkill -KILL -P "$pid" || true
  wait "$pid" 2>/dev/null || true
  "$bin/nmt-train" -c "$out/runs/killed/config.yaml"
  compare unkilled killed 0.05
}

step resume 240 card "a killed run resumes" kill_and_resume

profile() {
  if [ "$rehearses" = 1 ]; then skip "no kernels to time on the simulated device"; fi
  "$bin/nmt-train" -c "$config" --run-dir "$out/runs/profile" --device "$device" --restart --profile 20 \
    --set model.d_model=512 --set model.d_ff=2048 --set model.num_blocks=6 --set model.num_heads=8 --set run.precision=bf16 \
    --set training.max_updates=40 --set training.num_epochs=0 --set validation.every=1000000 --set run.tensorboard=false
  python3 bench/training/device_time.py "$(ls "$out"/runs/profile/profile.json*)" --updates 20 >"$out/profile.md"
}
tables+=(profile)
step profile 180 card "where the time of a base update goes" profile

tests() {
  local test
  if [ "$rehearses" = 1 ]; then skip "ctest -L device runs them on the simulated device"; fi
  if [ -z "$bundle" ]; then ctest --test-dir "$build_folder" -L gpu --output-on-failure; return; fi
  while read -r test; do
    NMT_SOURCE_DIR=$PWD NVIDIA_TF32_OVERRIDE=0 "$bin/tests/$test" --gtest_brief=1
  done <gpu_tests
}
step tests 600 card "tests labelled gpu" tests
for size in small base big; do
  for precision in fp32 bf16 fp16; do
    step "${size}_$precision" 300 card "$updates updates of $size in $precision" \
      train "${size}_$precision" "$device" "$precision" "$size" "$updates"
  done
done
two_processes() {
  if [ "$count" -lt 2 ]; then skip "one device"; fi
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
step two 300 card "two processes on two cards" two_processes

if [ "$lists" = 1 ]; then exit 0; fi
for table in "${tables[@]}"; do
  if [ -s "$out/$table.md" ]; then tell "" && tell "## ${table//_/ }" && tell "" && cat "$out/$table.md" >>"$report"; fi
done
if [ -n "$device" ] && [ "$rehearses" = 0 ]; then
  tell ""
  tell "Memory in use at the end: $(nvidia-smi --query-gpu=memory.used --format=csv,noheader | tr '\n' ' ')"
fi
say "report: $report"
if [ -z "$device" ]; then say "no card: docs/gpu.md says what is proven without one" && exit $((failed ? 1 : 2)); fi
exit "$failed"
