#!/usr/bin/env bash
# Set-up, build, then tests.
#   ./scripts/test.sh [ARGUMENTS OF CTEST]      the core: unit tests of src/ and of the scripts
#   ./scripts/test.sh --system [...]            everything: interfaces, Python, programs as a user runs them
#   ./scripts/test.sh --stage NAME... [...]     further stages alone: sanitizers, threads, device, site, packages, long
#   ./scripts/test.sh --all                     all of these, one after the other: hours
#   -R REGEX     for example: only tests whose name matches
# The last lines tell the time of each step, each case that was skipped and why, and how many passed, failed and were
# skipped. Exit code 0 if none failed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all_stages=(core system sanitizers threads device site packages long)
stages=() strict=()
case "${1:-}" in
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' scripts/test.sh; exit 0 ;;
  --system) stages=(system); shift ;;
  --all) stages=("${all_stages[@]}") strict=(--strict); shift ;;
  --stage)
    shift
    while [[ ${1:--} != -* ]]; do
      [[ " ${all_stages[*]} " == *" $1 "* ]] || die "--stage $1: no such stage; use ${all_stages[*]}"
      stages+=("$1")
      shift
    done
    [ ${#stages[@]} -gt 0 ] || die "--stage: name one or more of ${all_stages[*]}"
    ;;
  *) stages=(core) ;;
esac
arguments=("$@")
results=$PWD/$build_folder/test-results  # of each stage, kept until its next run

# run_tests NAME FOLDER [arguments of ctest]: results go to $results/NAME. What fails is counted from those at the end.
run_tests() {
  local name=$1 folder=$2
  shift 2
  say "tests: $name"
  rm -rf "${results:?}/$name" && mkdir -p "$results/$name"
  # Two at a time, where a test does not ask for both places (PROCESSORS 2).
  GTEST_OUTPUT="xml:$results/$name/" ctest --test-dir "$folder" -j 2 --output-on-failure --no-tests=ignore \
    --output-junit "$results/$name/ctest.xml" --test-output-size-passed 1000000 --test-output-size-failed 1000000 \
    "$@" "${arguments[@]}" || true
}

times=()
timed() {  # WHAT COMMAND...
  local what=$1 began=$SECONDS
  shift
  "$@"
  times+=("$(printf '%5d s  %s' $((SECONDS - began)) "$what")")
}

build() { cmake --build "$1" -j "$(build_jobs)" "${@:2}"; }

stage_core() {
  timed "set-up" ./scripts/setup.sh --core
  # Where everything is built already (scripts/quickstart.sh), the tests are those of that build.
  [ -e "$build_folder/build.ninja" ] || configure_release -DNMT_CORE_ONLY=ON
  timed "build: core" build "$build_folder" --target core_tests
  timed "tests: core" run_tests core "$build_folder" -L '^core$'
}

stage_system() {
  timed "set-up" ./scripts/setup.sh
  install_packages mandoc man-db groff-base zsh fish || true  # manual pages and completions are tried in them
  local python axe module=()
  python=$(./scripts/dev_python.sh) && export NMT_DEV_PYTHON=$python
  python=$(./scripts/interop_python.sh) && export NMT_INTEROP_PYTHON=$python
  if command -v chromium >/dev/null; then axe=$(./scripts/axe_core.sh) && export NMT_AXE_CORE=$axe; fi
  timed "format" ./scripts/check_format.sh
  if [ -n "${NMT_DEV_PYTHON:-}" ]; then module=(-DNMT_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$NMT_DEV_PYTHON"); fi
  # Nothing runs the benchmarks here, but each has to compile.
  configure_release -DNMT_CORE_ONLY=OFF -DNMT_BUILD_BENCH=ON "${module[@]}"
  timed "build: everything" build "$build_folder"
  timed "lint" ./scripts/lint.sh  # it reads what the build generates, too
  timed "tests: system" run_tests system "$build_folder" -L '^(unit|system)$'
}

stage_sanitizers() {  # what does without LibTorch, under the address and undefined-behaviour sanitizers
  configure_sanitizers asan build-asan
  timed "build: sanitizers" build build-asan
  # What is no C++ gains nothing from sanitizers.
  ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 timed "tests: sanitizers" run_tests sanitizers build-asan \
    -L '^(unit|system)$' -R '^(unit_|system_(scoring|translating)_fuzz|system_config_errors)' -E '^unit_(data_scripts|scripts)$'
}

stage_threads() {  # what starts threads, under the thread sanitizer
  configure_sanitizers tsan build-tsan
  timed "build: threads" build build-tsan --target test_threads
  timed "tests: threads" run_tests threads build-tsan -R '^unit_threads$'
}

stage_device() {  # the unit tests with LibTorch once more, on a device of the tests' own; the kernels of a card
  ./scripts/kernel_python.sh >/dev/null || true  # without it they are skipped
  configure_release -DNMT_CORE_ONLY=OFF -DNMT_SIMULATED_DEVICE=ON
  timed "build: device" build "$build_folder" --target device_tests
  timed "tests: device" run_tests device "$build_folder" -L '^device$'
}

stage_site() {
  timed "tests: site" run_tests site "$build_folder" -R '^long_site$'
}

stage_packages() {  # in a bare Debian
  timed "tests: packages" run_tests packages "$build_folder" -R '^long_packages$'
}

stage_long() {  # soak, load, fuzzing, full comparisons
  command -v chromium >/dev/null || install_packages chromium || true
  command -v npm >/dev/null || install_packages npm || true
  timed "tests: long" run_tests long "$build_folder" -L '^long$' -E '^long_(site|packages)$'
}

counted=()
for stage in "${stages[@]}"; do
  "stage_$stage"
  counted+=("$results/$stage")
done
printf '%s\n' "${times[@]}" >&2
python3 scripts/count_tests.py "${strict[@]}" "${counted[@]}"
