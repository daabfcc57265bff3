#!/usr/bin/env bash
# Builds the CPU kernels and their tests for ARM64 with Debian's cross compiler, in build-arm64, and runs the tests under
# QEMU's user-mode emulation: as processors with NEON alone, with dot products, and with all that the kernels know.
# Installs the compiler, QEMU and GoogleTest's source where they are missing (as root or with sudo).
#   ./scripts/cross_arm64.sh [arguments of ctest]
# Prints for each processor the set of products that was chosen, and the counts of all in the last line. Exit code 0 if none
# failed, 77 where the packages cannot be installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  -h | --help) sed -n '2,7s/^# \{0,1\}//p' scripts/cross_arm64.sh; exit 0 ;;
esac

folder=build-arm64
googletest=$PWD/$folder/googletest  # built here: Debian's own is for this machine's processor
toolchain=$PWD/cmake/arm64.cmake
processors=(cortex-a72 neoverse-n1 max)

install_packages g++-aarch64-linux-gnu qemu-user libgtest-dev libgmock-dev ninja-build || exit 77

if [ ! -e "$googletest/lib/cmake/GTest/GTestConfig.cmake" ]; then
  say "building GoogleTest for ARM64"
  { cmake -S /usr/src/googletest -B "$folder/googletest-build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$googletest" -DCMAKE_INSTALL_LIBDIR=lib &&
    cmake --build "$folder/googletest-build" -j "$(build_jobs)" --target install; } >&2 ||
    die "GoogleTest could not be built: see above"
fi
cmake -S . -B "$folder" -G Ninja --no-warn-unused-cli -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DNMT_KERNELS_ONLY=ON \
  -DNMT_WERROR="${NMT_WERROR:-OFF}" -DGTest_DIR="$googletest/lib/cmake/GTest" >&2 || die "cmake failed: see above"
cmake --build "$folder" -j "$(build_jobs)" >&2 || die "the build failed: see above"

results=$PWD/$folder/test-results
rm -rf "$results"
for processor in "${processors[@]}"; do
  mkdir -p "$results/$processor"
  say "tests as $processor"
  QEMU_CPU=$processor GTEST_OUTPUT="xml:$results/$processor/" ctest --test-dir "$folder" --output-on-failure \
    --output-junit "$results/$processor/ctest.xml" --test-output-size-passed 1000000 "$@" >&2 || true
done
for processor in "${processors[@]}"; do
  sed -n "s/.*<property name=\"packed_kernels\" value=\"\([^\"]*\)\".*/$processor: products of the set \1/p" \
    "$results/$processor/test_kernels.xml" || die "no test ran as $processor: see above"
done
python3 scripts/count_tests.py "$results"/*/
