#!/usr/bin/env bash
# Tries the packages of dist/ as a stranger's machine would: in a bare Debian 12 that debootstrap makes, without Python, compiler
# and LibTorch. The tar.gz is unpacked at two places, the .debs are installed with apt-get; each time it prepares a corpus of
# 200 lines, trains three updates, translates, scores, and serves.
#   scripts/try_packages.sh ROOT [tar] [deb]     ROOT is made where it is not there; both kinds where none is named
# As root, with the network for apt-get. Exit code 77 where debootstrap cannot be had.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  '' | -h | --help) sed -n '2,6s/^# \{0,1\}//p' scripts/try_packages.sh; exit 0 ;;
esac
[ "$(id -u)" -eq 0 ] || { say "not root: no bare Debian can be made"; exit 77; }
root=$(realpath -m "$1")
kinds=("${@:2}")
[ ${#kinds[@]} -gt 0 ] || kinds=(tar deb)
install_packages debootstrap || exit 77
if [ ! -e "$root/etc/debian_version" ]; then
  say "making a bare Debian 12 in $root"
  mkdir -p "$root"
  debootstrap --variant=minbase bookworm "$root" >"$root.log" 2>&1 || { say "debootstrap failed: $root.log"; exit 77; }
fi

# inside COMMAND...: in the bare root, with a /proc of its own; what is mounted goes with the last process.
inside() {
  unshare --mount --pid --fork chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
    DEBIAN_FRONTEND=noninteractive /bin/bash -c 'mount -t proc proc /proc && mount -t devtmpfs dev /dev 2>/dev/null; "$@"' inside "$@"
}

# The corpus: made here, by a script, since the bare root has no Python.
work=$root/trial
rm -rf "$work" && mkdir -p "$work"
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
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
cd /trial && rm -rf prepared runs
step() { printf -- '-- %s\n' "$*"; }
step "$nmt --version: $("$nmt" --version)"
step "nmt eval --self-test"; "$nmt" eval --self-test | tail -n 2
step "nmt prepro -c tiny.yaml"; "$nmt" prepro -c tiny.yaml 2>&1 >/dev/null | tail -n 1
step "nmt train -c tiny.yaml, three updates"
"$nmt" train -c tiny.yaml --set training.max_updates=3 2>&1 | tail -n 2
step "nmt translate"; head -n 2 valid.de | "$nmt" translate -q -m runs/quickstart/best >out.en; wc -l <out.en
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

for kind in "${kinds[@]}"; do
  case $kind in
    tar)
      archive=$(echo dist/nmt-*-linux-*.tar.gz)
      [ -e "$archive" ] || die "no dist/nmt-*-linux-*.tar.gz: scripts/package.sh tar"
      rm -rf "$root/opt/here" "$root/srv/there" "$root/srv/moved again"
      for place in /opt/here /srv/there; do
        mkdir -p "$root$place"
        tar -xzf "$archive" -C "$root$place" --strip-components=1
        say "tar.gz in $place: $(du -sh "$root$place" | cut -f 1)"
        inside bash /trial/trial.sh "$place/bin/nmt"
      done
      mv "$root/srv/there" "$root/srv/moved again"
      inside ln -sf "/srv/moved again/bin/nmt" /usr/local/bin/nmt-link
      inside /usr/local/bin/nmt-link train --version
      say "libraries that are taken from the system:"
      inside bash -c 'for p in /opt/here/bin/nmt-*; do ldd "$p"; done' | grep -v /opt/here | sed 's/(.*//' | sort -u
      rm -rf "$root/opt/here" "$root/srv/moved again" "$root/usr/local/bin/nmt-link"
      ;;
    deb)
      debs=(dist/*.deb)
      [ -e "${debs[0]}" ] || debs=(dist/nmt-*/*.deb)
      [ -e "${debs[0]}" ] || die "no dist/*.deb: scripts/package.sh deb"
      rm -rf "$root/debs" && mkdir "$root/debs" && cp "${debs[@]}" "$root/debs"
      [ -e "$root/etc/resolv.conf" ] || cp /etc/resolv.conf "$root/etc/"
      say "apt-get install of ${debs[*]##*/}"
      inside apt-get update -q >/dev/null
      inside bash -c 'apt-get install -q -y --no-install-recommends man-db bash-completion /debs/*.deb' >"$root.log" 2>&1 ||
        { tail -n 20 "$root.log" >&2; die "apt-get could not install them: see above"; }
      grep -E '^(Need|After|Setting up (lib)?nmt)|newly installed' "$root.log"
      inside bash /trial/trial.sh /usr/bin/nmt
      inside bash -c 'ls -l /usr/share/bash-completion/completions/nmt-train /lib/systemd/system/nmt.service /usr/lib/nmt'
      if compgen -G "$root/debs/libnmt*.deb" >/dev/null; then
        say "libnmt and what it loads:"
        inside bash -c 'ldd /usr/lib/*/libnmt.so; ls /usr/lib/*/pkgconfig/nmt.pc /usr/include/nmt.h' | sed 's/(0x.*//'
      fi
      inside bash -c 'dpkg -L nmt nmt-libtorch | wc -l; du -sh /usr/lib/nmt; apt-get remove -q -y nmt-libtorch >/dev/null && ! ls /usr/bin/nmt* /usr/lib/nmt 2>/dev/null'
      rm -rf "$root/debs"
      ;;
    *) die "$kind: no such kind of package (tar, deb)" ;;
  esac
done
say "the packages work in $root"
