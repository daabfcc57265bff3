#!/usr/bin/env bash
# Makes dist/nmt-gpu.tar.xz, with which scripts/gpu_check.sh --offline checks a machine with a card that has neither a network nor
# a compiler: the programs, the tests labelled gpu, the scripts, and the libraries that they need beyond LibTorch's, CUDA's and the
# C++ compiler's. LibTorch is that of the machine's own Python package torch, of the version that the build was made with.
#   scripts/gpu_bundle.sh [BUILD]     BUILD: a build for CUDA (default build-cuda) with
#     -DNMT_CORE_ONLY=OFF -DNMT_BUILD_BENCH=ON -DNMT_SIMULATED_DEVICE=ON -DNMT_WITH_MPI=OFF
# NMT_GPU_EXTRAS: a folder that travels with it as extras/ (docs/gpu.md). The archive is unpacked and compared before this ends.
# On the machine:
#   tar -xf nmt-gpu.tar.xz && nmt-gpu/scripts/gpu_check.sh --offline nmt-gpu
from=$PWD
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  -h | --help) sed -n '2,10s/^# \{0,1\}//p' scripts/gpu_bundle.sh; exit 0 ;;
esac
build=${1:-build-cuda}
extras=${NMT_GPU_EXTRAS:-}
case $extras in '' | /*) ;; *) extras=$from/$extras ;; esac
[ -z "$extras" ] || [ -d "$extras" ] || die "NMT_GPU_EXTRAS=$extras: no folder"
command -v xz >/dev/null || die "no xz: install xz-utils"
largest=60  # MB
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt" 2>/dev/null; }
[ -e "$build/CMakeCache.txt" ] || die "$build: no build folder"
torch=$(cached Torch_DIR)
torch_is_for_cuda "$torch" || die "$build is made with a LibTorch for the CPU"
[ "$(cached NMT_BUILD_BENCH)$(cached NMT_SIMULATED_DEVICE)" = ONON ] && [ "$(cached NMT_WITH_MPI)" = OFF ] ||
  die "$build: configure it as --help says (without MPI, which has parts of its own all over a system)"
libraries=$(cd "$torch/../../../lib" && pwd)

tests=(test_gpu test_nn test_models test_search test_evaluation test_training)  # as labelled in tests/CMakeLists.txt
programs=()
for program in "$build"/nmt-*; do
  if [ -f "$program" ] && [ -x "$program" ]; then programs+=("$program"); fi
done
programs+=("$build/libnmt_torch.so")  # that nmt-translate opens
files=("${programs[@]}" "$build/bench/device_peak_bench" "${tests[@]/#/$build/tests/}" "$build/tests/libsimulated_device.so")
for file in "${files[@]}"; do [ -x "$file" ] || die "$file is not built"; done

stage=$build/stage/nmt-gpu
rm -rf "$build/stage" && mkdir -p "$stage"/{build/bench,build/tests,lib,scripts,docs}
install -s -t "$stage/build" "${programs[@]}"
install -s -t "$stage/build/bench" "$build/bench/device_peak_bench"
install -s -t "$stage/build/tests" "${tests[@]/#/$build/tests/}"
install -s -t "$stage/build/tests" "$build/tests/libsimulated_device.so"  # for --rehearse
printf '%s\n' "${tests[@]}" >"$stage/gpu_tests"
torch_version "$torch" | sed 's/+.*//' >"$stage/torch_version"
git describe --always --dirty >"$stage/revision"
cp scripts/gpu_check.sh scripts/common.sh "$stage/scripts"
cp -r configs data_scripts kernels "$stage"
mkdir -p "$stage/tests/kernels" && cp tests/kernels/*.py "$stage/tests/kernels"
if [ -n "${NMT_GPU_EXTRAS:-}" ]; then cp -rL "$extras" "$stage/extras"; fi
find "$stage" -name __pycache__ -prune -exec rm -r {} +
cp docs/gpu.md docs/attention_by_hand.md LICENSE NOTICE "$stage/docs"
mkdir -p "$stage/bench" && cp bench/measuring.py "$stage/bench" && cp -r bench/decoding bench/training "$stage/bench"
git ls-files 'tests/*/golden/*' tests/nn/attention/attention_by_hand_test.cpp | while read -r file; do
  mkdir -p "$stage/$(dirname "$file")" && cp "$file" "$stage/$file"
done

# name and path of what the programs load, but for LibTorch's and NVIDIA's, and those of glibc and the compiler, which torch
# needs itself.
needed() {
  LD_LIBRARY_PATH=$libraries ldd "${files[@]}" | sed -n 's/^\t\(\S*\) => \(\/\S*\) (.*/\1 \2/p' | sort -u |
    grep -Ev "^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s|gomp)\.so.*) | $libraries/|/nvidia/|/cuda[^/]*/|libcu|libnv"
}
if LD_LIBRARY_PATH=$libraries ldd "${files[@]}" | grep "not found"; then die "these libraries are not found"; fi
while read -r name path; do install -m 644 "$path" "$stage/lib/$name"; done < <(needed)

(cd "$stage" && find . -type f ! -name files.sha256 -print0 | sort -z | xargs -0 sha256sum >files.sha256)
mkdir -p dist
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX -C "$build/stage" -cf - nmt-gpu | xz -T2 -9 >dist/nmt-gpu.tar.xz
size=$(stat -c %s dist/nmt-gpu.tar.xz)
[ "$size" -le $((largest * 1000000)) ] || die "dist/nmt-gpu.tar.xz has $size bytes; at most $largest MB can be carried"
rm -rf "$build/stage/again" && mkdir "$build/stage/again" && tar -C "$build/stage/again" -xf dist/nmt-gpu.tar.xz &&
  (cd "$build/stage/again/nmt-gpu" && sha256sum --quiet --strict -c files.sha256) >&2 ||
  die "dist/nmt-gpu.tar.xz is not what was packed: see above"
rm -rf "$build/stage/again"
say "dist/nmt-gpu.tar.xz: $(numfmt --to=si "$size")B; unpacked $(du -sb "$stage" | cut -f 1 | numfmt --to=si)B; libraries: $(ls "$stage/lib" | tr '\n' ' ')"
