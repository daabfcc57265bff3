#!/usr/bin/env bash
# Set-up, build, then the tests through ctest: those labelled unit and system.
#   ./scripts/test.sh [--all] [arguments of ctest]
#   --all        the long ones too: fuzzing, load, soak, full comparisons with other programs
#   -R REGEX     for example: only tests whose name matches
# The tests of the libraries that do without LibTorch run a second time under the address and undefined-behaviour
# sanitizers. The last line says how many test cases passed, failed and were skipped. Exit code 0 if none failed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

labels='^(unit|system)$'
case "${1:-}" in
  -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/test.sh; exit 0 ;;
  --all) labels='^(unit|system|long)$'; shift ;;
esac

results=$PWD/$build_folder/test-results  # kept until the next time
rm -rf "$results" && mkdir -p "$results"

# run_tests NAME FOLDER [ctest arguments]: the results go to $results/NAME. What fails is counted from those at the end.
run_tests() {
  local name=$1 folder=$2
  shift 2
  say "tests of $folder"
  mkdir "$results/$name"
  GTEST_OUTPUT="xml:$results/$name/" ctest --test-dir "$folder" --output-on-failure --no-tests=ignore \
    --output-junit "$results/$name/ctest.xml" --test-output-size-passed 1000000 --test-output-size-failed 1000000 \
    "$@" || true
}

./scripts/setup.sh
python=$(./scripts/dev_python.sh) && export NMT_DEV_PYTHON=$python
python=$(./scripts/interop_python.sh) && export NMT_INTEROP_PYTHON=$python

configure_release
configure asan build-asan
say "building"
cmake --build "$build_folder" -j "$(build_jobs)"
cmake --build build-asan -j "$(build_jobs)"

run_tests release "$build_folder" -L "$labels" "$@"
# What is no C++ gains nothing from sanitizers.
ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 run_tests sanitizers build-asan \
  -L '^(unit|system)$' -R '^(unit_|system_scoring_fuzz|system_config_errors)' -E '^unit_(data_scripts|scripts)$' "$@"

python3 scripts/count_tests.py "$results/release" "$results/sanitizers"
