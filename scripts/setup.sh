#!/usr/bin/env bash
# Installs what the toolkit is built with, on Debian 12, Ubuntu 24.04 or newer: Debian packages (as root or with sudo) and
# LibTorch. Quick where all is there; changes nothing else on the machine. LibTorch is taken from Torch_DIR,
# CMAKE_PREFIX_PATH or a python3 that has torch; otherwise it is installed into .deps/torch, by pip, from the index
# NMT_TORCH_INDEX_URL where that is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

core=''
case "${1:-}" in
  '') ;;
  --core) core=yes ;;
  -h | --help) sed -n '2,6s/^# //p' scripts/setup.sh; exit 0 ;;
  *) die "$1: no such option (see --help)" ;;
esac

packages=(build-essential ninja-build ccache ca-certificates
  libcli11-dev libspdlog-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libicu-dev zlib1g-dev libzstd-dev libexpat1-dev
  libssl-dev libgtest-dev libgmock-dev)
checkers=()
if [ -z "$core" ]; then
  packages+=(libcld2-dev libzip-dev libbenchmark-dev libopenmpi-dev openmpi-bin)
  checkers=(clang-format-14 clang-tidy-14)  # newer systems have newer ones, which see other things: they do without
fi

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    is_installed "$package" || echo "$package"
  done
  for package in "${checkers[@]}"; do
    is_installed "$package" || [ -z "$(apt-cache show "$package" 2>/dev/null)" ] || echo "$package"
  done
  # These may well have come another way.
  command -v cmake >/dev/null || echo cmake
  [ -n "$core" ] || "${CXX:-c++}" -E -x c++ -include boost/version.hpp /dev/null >/dev/null 2>&1 || echo libboost-dev
  python3 -c 'import ensurepip, venv' 2>/dev/null || printf '%s\n' python3 python3-venv
}

install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs root (no sudo here) for: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q >&2 || die "apt-get update failed: see above"
  mapfile -t missing < <(missing_packages)  # once more: the system knows which packages there are
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install ${missing[*]}: see above"
}

check_versions() {
  local found
  found=$(cmake --version | sed -n '1s/.* //p')
  at_least "$found" 3.25 || die "CMake $found is too old: 3.25 or newer is needed (Debian 12 and Ubuntu 24.04 have it)"
  found=$("${CXX:-c++}" -dumpfullversion -dumpversion) || die "no C++ compiler: ${CXX:-c++}"
  if "${CXX:-c++}" --version | grep -q 'Free Software Foundation'; then
    at_least "$found" 12 || die "g++ $found is too old: 12 or newer is needed (CXX=... names another compiler)"
  fi
}

# What is not complete goes with this script, however it ends.
partials=()
trap 'rm -rf "${partials[@]}"' EXIT
trap 'exit 130' INT  # pip answers Ctrl-C as it does a failure

# An environment of its own, so that nothing of the machine's Python is touched. It gets its name when it is complete.
install_torch() {
  local partial=$torch_environment.partial
  local pip=("$partial/bin/python" -m pip install -q --disable-pip-version-check)
  if [ -n "${NMT_TORCH_INDEX_URL:-}" ]; then pip+=(--index-url "$NMT_TORCH_INDEX_URL"); fi
  partials+=("$partial")
  say "installing LibTorch $torch_release into $torch_environment (a large download, once)"
  python3 -m venv --clear "$partial" || die "python3 -m venv failed: see above"
  # Without a CUDA toolkit a build for CUDA brings gigabytes that stay unused, so the one for the CPU is asked for first.
  if has_nvcc || ! "${pip[@]}" "torch==$torch_release+cpu" numpy 2>/dev/null; then
    "${pip[@]}" "torch==$torch_release" numpy >&2 ||
      die "pip could not install torch==$torch_release: see above; a LibTorch of your own is used with Torch_DIR=.../share/cmake/Torch"
  fi
  rm -rf "$torch_environment"
  mv "$partial" "$torch_environment"
}

# The source of SentencePiece, which the build compiles (cmake/NmtSentencePiece.cmake says why): the release that is pinned
# in common.sh, by its checksum. It gets its name when it is complete.
install_sentencepiece() {
  local partial
  [ ! -e "$sentencepiece_source/VERSION.txt" ] || return 0
  say "downloading the source of SentencePiece $sentencepiece_release"
  mkdir -p .deps && partial=$(mktemp -d .deps/sentencepiece.XXXXXX) || die "cannot write to .deps"
  partials+=("$partial")
  printf 'sentencepiece==%s --hash=sha256:%s\n' "$sentencepiece_release" "$sentencepiece_sha256" >"$partial/wanted.txt"
  python3 -m venv "$partial/environment" || die "python3 -m venv failed: see above"
  "$partial/environment/bin/python" -m pip download -q --disable-pip-version-check --no-deps --no-binary sentencepiece \
    --require-hashes -r "$partial/wanted.txt" -d "$partial" >&2 ||
    die "pip could not download sentencepiece==$sentencepiece_release: see above"
  tar -xzf "$partial/sentencepiece-$sentencepiece_release.tar.gz" -C "$partial" || die "cannot unpack SentencePiece's source"
  mv "$partial/sentencepiece-$sentencepiece_release/sentencepiece" "$sentencepiece_source"
}

if command -v apt-get >/dev/null; then
  install_packages
else
  say "this is not Debian or Ubuntu: install the equivalents of ${packages[*]} cmake python3 by hand"
fi
check_versions
install_sentencepiece
if ! torch=$(find_torch 2>/dev/null); then
  find_torch >/dev/null || install_torch  # once more: says why one that is there is not used
  torch=$(find_torch) || die "no LibTorch that can be used"
fi
if torch_is_for_cuda "$torch" && ! has_nvcc; then
  say "LibTorch is built for CUDA, but there is no CUDA toolkit (nvcc): programs are built for the CPU"
fi
say "set-up is complete: LibTorch $(torch_version "$torch") in ${torch%/share/cmake/Torch}"
