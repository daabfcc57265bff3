#!/usr/bin/env bash
# Tries the packages of dist/ as a stranger's machine would: in a bare Debian 12 that debootstrap makes, without Python, compiler
# and LibTorch. The tar.gz is unpacked at two places, the .debs are installed with apt-get; each time it prepares a corpus of
# 200 lines, trains three updates, translates, scores, and serves. With the .debs it also reads a manual page, completes a
# line, builds and runs the examples, translates from Python, and removes all of it again.
#   scripts/try_packages.sh ROOT [tar] [deb]     ROOT is made where it is not there; both kinds where none is named
# As root, with the network for apt-get. ROOT stays bare: each kind gets a copy, ROOT.tar or ROOT.deb, which goes when all went
# well. Exit code 77 where debootstrap cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  '' | -h | --help) sed -n '2,9s/^# \{0,1\}//p' scripts/try_packages.sh; exit 0 ;;
esac
[ "$(id -u)" -eq 0 ] || { say "not root: no bare Debian can be made"; exit 77; }
bare=$(realpath -m "$1")
kinds=("${@:2}")
[ ${#kinds[@]} -gt 0 ] || kinds=(tar deb)
install_packages debootstrap || exit 77
if [ ! -e "$bare/made" ]; then
  mkdir -p "$bare"
  [ -z "$(ls -A "$bare")" ] || die "$bare is not empty, and no bare root of this script: name a new folder, or remove it"
  say "making a bare Debian 12 in $bare"
  debootstrap --variant=minbase bookworm "$bare" >"$bare.log" 2>&1 || { say "debootstrap failed: $bare.log"; exit 77; }
  touch "$bare/made"
fi

# inside COMMAND...: in the bare root, with a /proc of its own; what is mounted goes with the last process.
inside() {
  unshare --mount --pid --fork chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive /bin/bash -c 'mount -t proc proc /proc && mount -t devtmpfs dev /dev 2>/dev/null; "$@"' inside "$@"
}

# The corpus: made here, by a script, since the bare root has no Python.
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
work=$corpus/trial
mkdir "$work"
python3 data_scripts/make_builtin_corpus.py --out "$corpus/builtin" >/dev/null
for language in de en; do
  head -n 200 "$corpus/builtin/train.$language" >"$work/train.$language"
  head -n 20 "$corpus/builtin/valid.$language" >"$work/valid.$language"
done
sed -e 's#data/builtin/test#data/builtin/valid#; s#data/builtin/##; s/vocab_size: .*/vocab_size: 200/' configs/quickstart.yaml >"$work/tiny.yaml"

# What a user does with the program `nmt` of $1. The answers of the service are read by bash alone.
cat >"$work/trial.sh" <<'TRIAL'
set -euo pipefail
nmt=$1
cd /trial && rm -rf prepared runs url  # of the trial before
step() { printf -- '-- %s\n' "$*"; }
step "$nmt --version: $("$nmt" --version)"
step "nmt eval --self-test"; "$nmt" eval --self-test | tail -n 2
step "nmt prepro -c tiny.yaml"; "$nmt" prepro -c tiny.yaml 2>&1 >/dev/null | tail -n 1
step "nmt train -c tiny.yaml, three updates"
"$nmt" train -c tiny.yaml --set training.max_updates=3 2>&1 | tail -n 2
step "nmt translate"; head -n 2 valid.de | "$nmt" translate -q -m runs/quickstart/best >out.en; wc -l <out.en
step "nmt translate --alignment pharaoh, by libnmt_torch.so"
head -n 2 valid.de | "$nmt" translate -q -m runs/quickstart/best --alignment pharaoh | cut -f 1 | cmp - out.en
step "nmt score"; "$nmt" score valid.en -i valid.en -b
step "nmt translate --serve"
"$nmt" translate -q -m runs/quickstart/best --serve 8899 >url 2>serve.log &
server=$!
for _ in $(seq 100); do [ -s url ] && break; sleep 0.1; done
ask() {
  local LC_ALL=C answer  # a length is in bytes
  exec 3<>/dev/tcp/127.0.0.1/8899
  printf '%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' \
    "$1" "${#2}" "$2" >&3
  answer=$(tr -d '\r' <&3)
  printf '%s: %s\n' "$1" "$(sed -n '1p;$p' <<<"$answer" | paste -s -d ' ')"
  [[ $answer == 'HTTP/1.1 200 '* ]]
}
ask 'GET /health' ''
ask 'POST /translate' '{"q": "Der Hund schläft.", "source": "de", "target": "en"}'
kill -TERM $server
wait $server || [ $? -eq 143 ]
step "all of it ran"
TRIAL

# What somebody does who has installed all .debs: documents, completion, programs of C++ and C, Python.
cat >"$work/installed.sh" <<'TRIAL'
set -euo pipefail
cd /trial
step() { printf -- '-- %s\n' "$*"; }
model=runs/quickstart/best
head -n 3 valid.de >three.de
nmt translate -q -m $model <three.de >three.en
nmt translate -q -m $model --beam-size 4 <three.de >three.beam4.en
step "man nmt-train, man nmt-config"
for page in nmt-train nmt-config; do MANPAGER=cat man "$page" 2>/dev/null | sed -n '/^NAME/{n;p}'; done
test -s /usr/share/doc/nmt/docs/README.md
step "completion of: nmt trai"
bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader nmt
  COMP_WORDS=(nmt trai) COMP_CWORD=1 COMP_LINE="nmt trai" COMP_POINT=8
  name=$(complete -p nmt); name=${name#*-F }; ${name%% *} nmt trai nmt 2>/dev/null; echo "${COMPREPLY[*]}"; [[ ${COMPREPLY[*]} =~ ^train\ ?$ ]]'
step "examples, by CMake"
cmake -S /usr/share/doc/nmt/examples -B examples >cmake.log && cmake --build examples >>cmake.log
examples/translate $model <three.de 2>/dev/null | cmp - three.beam4.en
examples/translate_c "{\"models\": [\"$model\"]}" <three.de | cmp - three.en
examples/score three.en three.en | sed -n 1p
step "examples, by pkg-config"
g++ -std=c++17 /usr/share/doc/nmt/examples/translate.cpp $(pkg-config --cflags --libs nmt) -o by_pkg_config
./by_pkg_config $model <three.de 2>/dev/null | cmp - three.beam4.en
step "Python"
python3 - $model <<'PYTHON' | cmp - three.en
import sys
import nmt
translator, lines = nmt.Translator(sys.argv[1]), open("three.de").read().splitlines()
for result in translator.translate(lines):
    print(result.text)
assert translator.translate(lines[0], return_alignment=True).alignment.size > 0  # by libnmt_torch.so
PYTHON
python3 -c 'import nmt; print(nmt.build_information()); print(nmt.score.corpus_bleu(["a b c d e"], [["a b c d e"]]))'
step "all of it worked"
TRIAL

# Nothing of the packages is left: neither files nor byte code.
cat >"$work/removed.sh" <<'TRIAL'
left=$(compgen -G '/usr/bin/nmt*'; compgen -G '/usr/lib/nmt*'; compgen -G '/usr/lib/*/libnmt*'; compgen -G '/usr/lib/*/*/nmt*'
       compgen -G '/usr/include/nmt*'; compgen -G '/usr/share/*/nmt*'; compgen -G '/usr/share/*/*/nmt*'; compgen -G '/usr/share/*/*/_nmt')
[ -z "$left" ] || { printf 'left: %s\n' $left; exit 1; }
TRIAL

# A copy of the bare root for one kind, with the trial in it.
copy_root() {
  root=$bare.$1
  rm -rf "$root" && cp -a "$bare" "$root" && cp -r "$work" "$root/trial"
}

for kind in "${kinds[@]}"; do
  case $kind in
    tar)
      archives=(dist/nmt-*-linux-*.tar.gz dist/nmt-*/nmt-*-linux-*.tar.gz)
      for archive in "${archives[@]}" ''; do if [ -e "$archive" ]; then break; fi; done
      [ -n "$archive" ] || die "no dist/nmt-*-linux-*.tar.gz: scripts/package.sh tar"
      copy_root tar
      for place in /opt/here /srv/there; do
        mkdir -p "$root$place"
        tar -xzf "$archive" -C "$root$place" --strip-components=1
        say "${archive##*/} in $place: $(du -sh "$root$place" | cut -f 1), of which lib/nmt $(du -sh "$root$place/lib/nmt" | cut -f 1)"
        inside bash /trial/trial.sh "$place/bin/nmt"
      done
      say "moved, and started through a link:"
      mv "$root/srv/there" "$root/srv/moved again"
      inside ln -sf "/srv/moved again/bin/nmt" /usr/local/bin/nmt-link
      inside /usr/local/bin/nmt-link train --version
      inside bash /trial/trial.sh "/srv/moved again/bin/nmt"
      say "libraries that are taken from the system:"
      inside bash -c 'for p in /opt/here/bin/nmt-*; do ldd "$p"; done' | grep -v /opt/here | sed 's/(.*//' | sort -u
      ;;
    deb)
      debs=(dist/*.deb)
      [ -e "${debs[0]}" ] || debs=(dist/nmt-*/*.deb)
      [ -e "${debs[0]}" ] || die "no dist/*.deb: scripts/package.sh deb"
      copy_root deb
      mkdir "$root/debs" && cp "${debs[@]}" "$root/debs"
      [ -e "$root/etc/resolv.conf" ] || cp /etc/resolv.conf "$root/etc/"
      say "apt-get install of ${debs[*]##*/}"
      inside apt-get update -q >/dev/null
      inside bash -c 'apt-get install -q -y --no-install-recommends /debs/*.deb' >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2; die "apt-get could not install them: see above"; }
      grep -E '^(Need|After|Setting up .*nmt)|newly installed' "$root.log"
      inside bash -c 'du -sh /usr/lib/nmt; ls -l /usr/share/bash-completion/completions/nmt-train /lib/systemd/system/nmt.service /usr/lib/nmt'
      say "libnmt and what it loads:"
      inside bash -c 'ldd /usr/lib/*/libnmt.so; ls /usr/lib/*/pkgconfig/nmt.pc /usr/include/nmt.h' | sed 's/(0x.*//'
      inside bash /trial/trial.sh /usr/bin/nmt
      say "what a developer has: man-db bash-completion g++ cmake make pkg-config"
      inside apt-get install -q -y --no-install-recommends man-db bash-completion g++ cmake make pkg-config >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2; die "apt-get could not install them: see above"; }
      inside bash /trial/installed.sh
      say "removed again:"
      inside apt-get remove -q -y nmt-libtorch 2>/dev/null | grep '^Removing .*nmt'
      inside bash /trial/removed.sh
      ;;
    *) die "$kind: no such kind of package (tar, deb)" ;;
  esac
  rm -rf "$root"
done
say "the packages work in copies of $bare"
