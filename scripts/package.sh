#!/usr/bin/env bash
# Makes packages of a build of its own, build-package, in dist/:
#   scripts/package.sh [tar] [translator] [deb] [wheel]      (all where none is named)
# tar         nmt-VERSION-linux-MACHINE.tar.gz, which runs wherever it is unpacked; LibTorch's CPU libraries and all others are in it
# translator  nmt-translator-VERSION-linux-MACHINE.tar.xz: nmt-translate alone, without LibTorch
# deb         nmt, nmt-libtorch, libnmtX.Y, libnmt-dev and python3-nmt, for the Debian or Ubuntu that this is
# wheel       the Python package for pip, for the Python and the libraries of this Debian or Ubuntu; LibTorch is that of the package torch
# The same source, packages and LibTorch give the same bytes: times in the archives are SOURCE_DATE_EPOCH, by default that of
# the last commit. scripts/setup.sh has to have run; LibTorch has to be its CPU build. NMT_DEB_COMPRESSION=zstd saves the minutes
# that xz takes, for .debs that are only tried.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kinds=("$@")
case "${1:-}" in
  -h | --help) sed -n '2,11s/^# \{0,1\}//p' scripts/package.sh; exit 0 ;;
  '') kinds=(tar translator deb wheel) ;;
esac
module=OFF
for kind in "${kinds[@]}"; do
  case $kind in
    tar | translator) ;;
    deb | wheel) module=ON ;;
    *) die "$kind: no such kind of package (tar, translator, deb, wheel)" ;;
  esac
done
command -v dpkg-query >/dev/null || die "this is not Debian or Ubuntu: packages are made there"

folder=build-package
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || die "not a git checkout: set SOURCE_DATE_EPOCH (seconds since 1970)"
fi
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

torch=$(find_torch) || die "no LibTorch: run scripts/setup.sh"
if torch_is_for_cuda "$torch"; then
  die "LibTorch in ${torch%/share/cmake/Torch} is for CUDA; packages are made of the CPU build: name one with Torch_DIR="
fi

# The Python package is made for the system's Python, with nanobind in an environment of its own. Prints its python.
package_python() {
  local environment=.deps/package system=/usr/bin/python3 requirements wanted
  requirements=("nanobind==$nanobind_release" "scikit-build-core==$scikit_build_core_release")
  install_packages python3-dev python3-venv || return 1
  wanted="$("$system" --version) ${requirements[*]}"
  if [ "$(cat "$environment/made-with.txt" 2>/dev/null)" != "$wanted" ]; then
    say "making $environment: $wanted"
    { "$system" -m venv --clear "$environment" &&
      "$environment/bin/python" -m pip install -q --disable-pip-version-check "${requirements[@]}"; } >&2 || return 1
    printf '%s\n' "$wanted" >"$environment/made-with.txt"
  fi
  printf '%s\n' "$PWD/$environment/bin/python"
}

settings=("-DTorch_DIR=$torch" "-DNMT_WERROR=${NMT_WERROR:-OFF}" -DNMT_SHORT_PATHS=ON "-DNMT_BUILD_PYTHON=$module")
if [ "$module" = ON ]; then
  python=$(package_python) || die "no nanobind for /usr/bin/python3, which binds the Python package: see above"
  settings+=("-DPython_EXECUTABLE=$python")
fi
say "building $folder"
cmake --preset package "${settings[@]}" >&2 || die "cmake failed: see above"
targets=()
if [ "${kinds[*]}" = translator ]; then targets=(--target nmt-translate nmt-document); fi
cmake --build "$folder" -j "$(build_jobs)" "${targets[@]}" >&2 || die "the build failed: see above"
# Folders below which sources stand: "$PWD/" alone may be a word of a program (/source/ in the image).
folders=("$PWD/src/" "$PWD/python/" "$PWD/.deps/" "$PWD/$folder/" "${torch%/share/cmake/Torch}/include/")
for file in "$folder"/bin/nmt* "$folder"/libnmt.so.*.*.* "$folder"/lib/nmt/libnmt_torch.so "$folder"/python/nmt/*.so; do
  if grep -qaF "${folders[@]/#/-e}" "$file" 2>/dev/null; then die "$file names folders of this machine"; fi
done
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$folder/CMakeCache.txt")
mkdir -p dist

# archive NAME README FILE COMMAND...: dist/FILE of the folder NAME below $folder/stage, with the libraries that its programs
# load, packed by the command.
archive() {
  local name=$1 readme=$2 file=dist/$3
  local stage=$PWD/$folder/stage/$name
  python3 packaging/bundle_libraries.py "$stage" "$version" "$readme" || die "the libraries could not be put together: see above"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --format=gnu \
    -C "$folder/stage" -cf - "$name" | "${@:4}" >"$file.partial"
  mv "$file.partial" "$file"
  say "$file: $(stat -c %s "$file" | numfmt --to=si)B; unpacked $(du -sb "$stage" | cut -f 1 | numfmt --to=si)B"
}

# make_tar, make_translator, make_debs, make_wheel: all that is in an archive says the same time.
make_tar() {
  local name=nmt-$version-linux-$(uname -m) component
  rm -rf "$folder/stage" dist/nmt-[0-9]*-linux-*.tar.gz
  for component in programs documents torch library development; do
    cmake --install "$folder" --component "$component" --prefix "$PWD/$folder/stage/$name" --strip >/dev/null || die "cmake --install failed"
  done
  archive "$name" README.tar.txt "$name.tar.gz" gzip -6n
}

make_translator() {
  local name=nmt-translator-$version-linux-$(uname -m)
  local stage=$PWD/$folder/stage/$name
  rm -rf "$stage" dist/nmt-translator-*.tar.xz
  mkdir -p "$stage/lib/nmt"
  install -s -D -t "$stage/bin" "$folder/bin/nmt-translate"
  install -s -D -t "$stage/libexec/nmt" "$folder/bin/nmt-document"
  install -m 644 -D -t "$stage/share/doc/nmt" LICENSE NOTICE packaging/nmt.service
  install -m 644 -D -t "$stage/share/doc/nmt/docs" docs/{translating,serving,options}.md
  archive "$name" README.translator.txt "$name.tar.xz" xz -6 -T1
}

make_debs() {
  local path
  command -v dpkg-shlibdeps >/dev/null || install_packages dpkg-dev || die "no dpkg-dev, whose dpkg-shlibdeps finds the dependencies"
  command -v file >/dev/null || install_packages file || die "no file, by which CPack tells programs from other files"
  rm -rf "$folder/debs" dist/*.deb
  (cd "$folder" && cpack -G DEB -B debs -D CPACK_DEBIAN_COMPRESSION_TYPE="${NMT_DEB_COMPRESSION:-xz}" >cpack.log 2>&1) || { cat "$folder/cpack.log" >&2; die "cpack failed: see above"; }
  for path in "$folder"/debs/*.deb; do
    mv "$path" dist/
    say "dist/${path##*/}: $(stat -c %s "dist/${path##*/}" | numfmt --to=si)B; installed $(dpkg-deb -f "dist/${path##*/}" Installed-Size) KiB"
  done
}

make_wheel() {
  local wheel
  rm -rf "$folder/wheel" dist/*.whl
  Torch_DIR=$torch "$python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps -w "$folder/wheel" \
    --config-settings=cmake.source-dir=python/prebuilt --config-settings=build.targets=all \
    "--config-settings=cmake.define.NMT_BUILT=$PWD/$folder" "--config-settings=build-dir=$folder/wheel/build" . >&2 || die "pip could not make the wheel: see above"
  wheel=$(echo "$folder"/wheel/*.whl)
  mv "$wheel" dist/
  say "dist/${wheel##*/}: $(stat -c %s "dist/${wheel##*/}" | numfmt --to=si)B"
}

for kind in "${kinds[@]}"; do
  case $kind in
    tar) make_tar ;;
    translator) make_translator ;;
    deb) make_debs ;;
    wheel) make_wheel ;;
  esac
done
