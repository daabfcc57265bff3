#!/usr/bin/env bash
# Builds for ARM64 with Debian's cross compiler and runs the tests under QEMU's user-mode emulation. The CPU kernels alone,
# in build-arm64, as processors with NEON alone, with dot products, and with all that the kernels know. With --all the whole
# toolkit but MPI and the Python package, in build-arm64-all, as one processor. Installs the compiler, QEMU and GoogleTest's
# source where they are missing (as root or with sudo). --all downloads libraries of Debian's arm64 and LibTorch's wheel for
# ARM64 into its folder (500 MB, 1.4 GB unpacked) and takes hours.
#   ./scripts/cross_arm64.sh [--all] [arguments of ctest; with --all: -L unit]
# QEMU_CPU names the processor of --all (max). Prints for each processor the set of products that was chosen, and
# the counts of all in the last line. Exit code 0 if none failed, 77 where the packages cannot be installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=build-arm64
processors=(cortex-a72 neoverse-n1 max)
whole=false
case "${1:-}" in
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' scripts/cross_arm64.sh; exit 0 ;;
  --all)
    shift
    whole=true
    folder=build-arm64-all
    processors=("${QEMU_CPU:-max}")
    [ $# -gt 0 ] || set -- -L unit
    ;;
esac
toolchain=$PWD/cmake/arm64.cmake
settings=(-G Ninja --no-warn-unused-cli -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DNMT_WERROR="${NMT_WERROR:-OFF}")

# GoogleTest for the kernels, built here: Debian's own is for this machine's processor.
googletest=$PWD/$folder/googletest
build_googletest() {
  [ ! -e "$googletest/lib/cmake/GTest/GTestConfig.cmake" ] || return 0
  say "building GoogleTest for ARM64"
  { cmake -S /usr/src/googletest -B "$folder/googletest-build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$googletest" -DCMAKE_INSTALL_LIBDIR=lib &&
    cmake --build "$folder/googletest-build" -j "$(build_jobs)" --target install; } >&2 ||
    die "GoogleTest could not be built: see above"
}

# The libraries of Debian's arm64 and all that they need, by an apt state of its own: this machine's dpkg hears of no other
# architecture. The folder gets its name when it is complete.
sysroot=$PWD/$folder/sysroot
libraries=(libcli11-dev libspdlog-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libicu-dev zlib1g-dev libexpat1-dev libssl-dev
  libzstd-dev libcld2-dev libzip-dev libboost-dev libgtest-dev libgmock-dev)
make_sysroot() {
  local apt=$PWD/$folder/apt partial=$sysroot.partial file target processor
  [ ! -e "$sysroot" ] || return 0
  say "downloading the libraries of Debian's arm64"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  : >"$apt/status"
  printf '%s\n' 'APT::Architecture "arm64";' 'APT::Architectures { "arm64"; };' "Dir::State \"$apt\";" \
    "Dir::State::status \"$apt/status\";" "Dir::Cache \"$apt/cache\";" >"$apt/apt.conf"
  { APT_CONFIG=$apt/apt.conf apt-get update -q &&
    APT_CONFIG=$apt/apt.conf apt-get install -q -y --no-install-recommends --download-only "${libraries[@]}"; } >&2 ||
    { say "apt-get could not download ${libraries[*]} for arm64: see above"; return 1; }
  rm -rf "$partial"
  mkdir -p "$partial/usr/lib"
  ln -s usr/lib "$partial/lib"  # as on a Debian whose /usr is merged
  for file in "$apt"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$file" | tar -x --keep-directory-symlink -C "$partial" || die "cannot unpack $file"
  done
  while IFS= read -r file; do  # the linker would follow these out of the folder
    target=$(readlink "$file")
    ln -sfnr "$partial$target" "$file"
  done < <(find "$partial" -type l -lname '/*')
  # QEMU 7.2 shows programs the /proc/cpuinfo of this machine, and where that names no ARM64 processor LibTorch's cpuinfo
  # follows a null pointer. This one names as many of Arm's Neoverse N1; what an emulated processor has is asked elsewhere.
  mkdir "$partial/proc"
  for ((processor = 0; processor < $(nproc); ++processor)); do
    printf '%s\t: %s\n' processor $processor 'CPU implementer' 0x41 'CPU architecture' 8 'CPU variant' 0x3 \
      'CPU part' 0xd0c 'CPU revision' 1
    echo
  done >"$partial/proc/cpuinfo"
  mv "$partial" "$sysroot"
}

# PyTorch's wheel for ARM64. There is none for the CPU alone in pip's usual index: LibTorch's CPU part also loads CUDA's
# run-time library and CUPTI, which come as wheels, too, of the release that PyTorch's own wheel asks for.
torch=$PWD/$folder/torch
install_arm64_torch() {
  local partial=$torch.partial environment=$PWD/$folder/environment cuda platform
  local pip=("$environment/bin/python" -m pip install -q --disable-pip-version-check --no-compile --only-binary=:all:
    --target "$partial")
  [ ! -e "$torch" ] || return 0
  for platform in 2_28 2_27 2_26 2_25 2_17; do pip+=(--platform "manylinux_${platform}_aarch64"); done
  say "downloading LibTorch $torch_release for ARM64"
  rm -rf "$partial"
  python3 -m venv --clear "$environment" || die "python3 -m venv failed: see above"
  "${pip[@]}" --no-deps "torch==$torch_release" >&2 ||
    { say "pip could not download torch==$torch_release for ARM64: see above"; return 1; }
  cuda=$(sed -n 's/^Requires-Dist: cuda-toolkit\[.*\]==\([0-9.]*\).*/\1/p' "$partial"/torch-*.dist-info/METADATA)
  if [ -n "$cuda" ]; then
    "${pip[@]}" "cuda-toolkit[cudart,cupti]==$cuda" >&2 ||
      { say "pip could not download cuda-toolkit[cudart,cupti]==$cuda for ARM64: see above"; return 1; }
  fi
  mv "$partial" "$torch"
}

install_packages g++-aarch64-linux-gnu qemu-user libgtest-dev libgmock-dev ninja-build || exit 77
mkdir -p "$folder"
if $whole; then
  make_sysroot || exit 77
  install_arm64_torch || exit 77
  settings+=(-DNMT_ARM64_SYSROOT="$sysroot" -DTorch_DIR="$torch/torch/share/cmake/Torch" -DNMT_WITH_MPI=OFF)
else
  build_googletest
  settings+=(-DNMT_KERNELS_ONLY=ON -DGTest_DIR="$googletest/lib/cmake/GTest")
fi
cmake -S . -B "$folder" "${settings[@]}" >&2 || die "cmake failed: see above"
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
    "$results/$processor/test_kernels.xml" || $whole || die "no test ran as $processor: see above"
done
python3 scripts/count_tests.py "$results"/*/
