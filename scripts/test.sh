#!/usr/bin/env bash
# Set-up, build, then the tests through ctest: those labelled unit and system.
#   ./scripts/test.sh [--all] [arguments of ctest]
#   --all        the long ones too: fuzzing, load, soak, full comparisons with other programs; and a test that is skipped
#                for another reason than a missing GPU, missing data or other toolkits counts as failed
#   -R REGEX     for example: only tests whose name matches
# The tests of the libraries that do without LibTorch run first, and once more at the end under the address and
# undefined-behaviour sanitizers; those of what starts threads also under the thread sanitizer. The last lines tell the
# time of each stage, each case that was skipped and why, and how many passed, failed and were skipped. Exit code 0 if
# none failed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

labels='^(unit|system)$' strict=()
case "${1:-}" in
  -h | --help) sed -n '2,11s/^# \{0,1\}//p' scripts/test.sh; exit 0 ;;
  --all) labels='^(unit|system|long)$' strict=(--strict); shift ;;
esac

torch_free_tests='^unit_(base|config|manual|text|markup|scoring|report|serving|data|prepro|interop|kernels|fuzz)$'
results=$PWD/$build_folder/test-results  # kept until the next time
rm -rf "$results" && mkdir -p "$results"

# run_tests NAME FOLDER [ctest arguments]: the results go to $results/NAME. What fails is counted from those at the end.
run_tests() {
  local name=$1 folder=$2
  shift 2
  say "tests of $folder"
  mkdir "$results/$name"
  # Two at a time, where a test does not ask for both places (PROCESSORS 2).
  GTEST_OUTPUT="xml:$results/$name/" ctest --test-dir "$folder" -j 2 --output-on-failure --no-tests=ignore \
    --output-junit "$results/$name/ctest.xml" --test-output-size-passed 1000000 --test-output-size-failed 1000000 \
    "$@" || true
}

# stage NAME COMMAND...: runs it and remembers how long it took.
stages=()
stage() {
  local name=$1 began=$SECONDS
  shift
  "$@"
  stages+=("$(printf '%5d s  %s' $((SECONDS - began)) "$name")")
}

build_all() { cmake --build "$1" -j "$(build_jobs)" "${@:2}"; }

stage "set-up" ./scripts/setup.sh
if [ ${#strict[@]} -gt 0 ]; then  # pages are looked at in Chromium; npm gets axe-core
  command -v chromium >/dev/null || install_packages chromium || true
  command -v npm >/dev/null || install_packages npm || true
fi
install_packages mandoc man-db groff-base zsh fish || true  # manual pages and completions are tried in them
python=$(./scripts/dev_python.sh) && export NMT_DEV_PYTHON=$python
python=$(./scripts/interop_python.sh) && export NMT_INTEROP_PYTHON=$python
if command -v chromium >/dev/null; then axe=$(./scripts/axe_core.sh) && export NMT_AXE_CORE=$axe; fi

stage "format" ./scripts/check_format.sh
module=()
if [ -n "${NMT_DEV_PYTHON:-}" ]; then module=(-DNMT_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$NMT_DEV_PYTHON"); fi
configure_release -DNMT_BUILD_BENCH=ON "${module[@]}"  # nothing runs the benchmarks here, but each has to compile
already=()
if [ $# -eq 0 ]; then
  # What needs no LibTorch is built in a third of the time: its results come first.
  stage "build without LibTorch" build_all "$build_folder" --target nmt_torch_free_tests
  stage "unit tests without LibTorch" run_tests torch_free "$build_folder" -L "$labels" -R "$torch_free_tests"
  already=(-E "$torch_free_tests")
fi
stage "build" build_all "$build_folder"
stage "lint" ./scripts/lint.sh  # it reads what the build generates, too
stage "tests" run_tests release "$build_folder" -L "$labels" "${already[@]}" "$@"
configure_sanitizers asan build-asan
stage "build with sanitizers" build_all build-asan
# What is no C++ gains nothing from sanitizers.
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
stage "tests with sanitizers" run_tests sanitizers build-asan \
  -L '^(unit|system)$' -R '^(unit_|system_(scoring|translating)_fuzz|system_config_errors)' -E '^unit_(data_scripts|scripts)$' "$@"
if [ $# -eq 0 ]; then
  configure_sanitizers tsan build-tsan
  stage "build with the thread sanitizer" build_all build-tsan --target test_threads
  stage "tests with the thread sanitizer" run_tests threads build-tsan -R '^unit_threads$'
fi

printf '%s\n' "${stages[@]}" >&2
python3 scripts/count_tests.py "${strict[@]}" "$results"/*/
