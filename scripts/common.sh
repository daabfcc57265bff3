# Shared by the scripts of this folder, which source it: where things are, how to build. Changes to the repository root.
set -euo pipefail
unset CDPATH  # a user's own leads elsewhere
case ${Torch_DIR:-/} in /*) ;; *) Torch_DIR=$PWD/$Torch_DIR ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

torch_release=2.13.0       # installed where no LibTorch is found
torch_oldest=2.11          # the oldest that is accepted
torch_environment=.deps/torch
sentencepiece_release=0.2.1  # as in cmake/NmtSentencePiece.cmake
sentencepiece_sha256=8138cec27c2f2282f4a34d9a016e3374cd40e5c6e9cb335063db66a0a3b71fad
sentencepiece_source=.deps/sentencepiece-$sentencepiece_release
python_environment=.deps/dev
nanobind_release=3.1.0            # binds the Python package
scikit_build_core_release=1.1.2   # makes its wheel
build_folder=build
clang_release=16             # sanitizers and fuzzers

say() { printf '== %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# at_least VERSION OLDEST
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# torch_version DIR: that of the LibTorch whose TorchConfig.cmake stands in DIR; empty if there is none.
torch_version() {
  sed -n 's/^set(PACKAGE_VERSION "\([^"]*\)".*/\1/p' "$1/TorchConfigVersion.cmake" 2>/dev/null | head -n 1 || true
}

# Else another one is taken, or downloaded, and nobody hears why.
if [ -n "${Torch_DIR:-}" ] && [ -z "$(torch_version "$Torch_DIR")" ]; then
  die "Torch_DIR=$Torch_DIR: no TorchConfigVersion.cmake there; name the folder share/cmake/Torch of a LibTorch"
fi

torch_is_for_cuda() { [ -e "$1/../../../lib/libtorch_cuda.so" ]; }

has_nvcc() { command -v "${CUDACXX:-nvcc}" >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; }

# The folders where a LibTorch may be, best first: named by the user, the project's own, that of python3.
torch_candidates() {
  local prefix
  if [ -n "${Torch_DIR:-}" ]; then printf '%s\n' "$Torch_DIR"; fi
  while IFS= read -r prefix; do
    if [ -n "$prefix" ]; then printf '%s\n' "$prefix/Torch" "$prefix/share/cmake/Torch"; fi
  done < <(tr ':;' '\n\n' <<<"${CMAKE_PREFIX_PATH:-}")
  printf '%s\n' "$PWD/$torch_environment"/lib/python3*/site-packages/torch/share/cmake/Torch
  (cd / && python3 - 2>/dev/null <<'PYTHON'
import importlib.util
spec = importlib.util.find_spec("torch")
for folder in (spec.submodule_search_locations or []) if spec else []:
    print(folder + "/share/cmake/Torch")
PYTHON
  ) || true
}

# Prints the folder of the TorchConfig.cmake to build with; fails if there is none that can be used.
find_torch() {
  local folder version
  while IFS= read -r folder; do
    version=$(torch_version "$folder")
    [ -n "$version" ] || continue
    if ! at_least "$version" "$torch_oldest"; then
      say "LibTorch $version in $folder is not used: $torch_oldest or newer is needed"
    else
      printf '%s\n' "$folder"
      return 0
    fi
  done < <(torch_candidates)
  return 1
}

# Compilers at a time: one a processor, but each may take up to 2 GB.
build_jobs() {
  local processors gigabytes jobs
  processors=$(nproc)
  gigabytes=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  jobs=$((gigabytes / 2 < processors ? gigabytes / 2 : processors))
  echo $((jobs > 0 ? jobs : 1))
}

# configure PRESET FOLDER [cmake arguments]: only where FOLDER is not configured so yet; ninja itself sees changed CMake
# files.
configure() {
  local preset=$1 folder=$2 key
  shift 2
  set -- "$@" -DNMT_WERROR="${NMT_WERROR:-OFF}"
  key="$* $(cksum <CMakePresets.json)"
  if [ -e "$folder/build.ninja" ] && grep -qxF "NMT_CONFIGURED_WITH:INTERNAL=$key" "$folder/CMakeCache.txt"; then
    return 0
  fi
  say "configuring $folder"
  cmake --preset "$preset" -DNMT_CONFIGURED_WITH:INTERNAL="$key" "$@" >&2 || die "cmake failed: see above"
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Installs Debian packages where they are not there. Fails, with a line that says why, where it cannot.
install_packages() {
  local as_root=() package missing=()
  for package in "$@"; do is_installed "$package" || missing+=("$package"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { say "needs root for: apt-get install $*"; return 1; }
    as_root=(sudo)
  fi
  { "${as_root[@]}" apt-get update -q &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"; } >&2 ||
    { say "apt-get could not install $*: see above"; return 1; }
}

# clang with its sanitizers.
install_clang() { install_packages "clang-$clang_release" "libclang-rt-$clang_release-dev" "llvm-$clang_release"; }

# A build with sanitizers, by clang where it is there: it takes half of g++'s time. Its warnings are others, and no errors.
configure_sanitizers() {
  local compiler=()
  if install_clang; then
    compiler=("-DCMAKE_C_COMPILER=clang-$clang_release" "-DCMAKE_CXX_COMPILER=clang++-$clang_release")
  fi
  NMT_WERROR=OFF configure "$@" "${compiler[@]}"
}

# The release build, in $build_folder.
configure_release() {
  local torch
  torch=$(find_torch) || die "no LibTorch: run scripts/setup.sh"
  configure release "$build_folder" -DTorch_DIR="$torch" "$@"
}
