#!/usr/bin/env bash
# From nothing to translations, in minutes on two cores: set-up, a release build, the built-in German-English corpus (a toy,
# nothing to download), then nmt-prepro, nmt-train, nmt-eval and nmt-translate. Run again it resumes where it stopped and
# does nothing twice.
#   ./scripts/quickstart.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [ $# -gt 0 ]; then
  sed -n '2,5s/^# \{0,1\}//p' scripts/quickstart.sh
  [ "$1" = -h ] || [ "$1" = --help ] || die "$1: no such option"
  exit 0
fi

config=configs/quickstart.yaml
corpus=data/builtin
run=runs/quickstart
bin=$build_folder

# What is translated at the end: of the corpus's grammar and words, but the script below checks that no file has them.
sentences=(
  'Der alte Bäcker hat der Lehrerin gestern ein Brot gebracht.'
  'Weil die Studentin müde ist, trinkt sie keinen Kaffee.'
  'Wir wissen nicht, ob der Junge den roten Mantel anzieht.'
  'Den Brief hat meine Tante nicht gelesen.'
  'Schlafen drei Katzen unter dem Tisch?'
)

build_programs() {
  say "building the programs"
  cmake --build "$build_folder" -j "$(build_jobs)" --target programs >&2
}

make_corpus() {
  if [ -e "$corpus/manifest.json" ]; then
    say "the built-in corpus is in $corpus"
  else
    say "making the built-in corpus"
    python3 data_scripts/make_builtin_corpus.py --out "$corpus" >&2
  fi
}

evaluate() {
  say "the test set: greedy search, then beam search"
  "$bin/nmt-eval" -c "$config" --beam-size 1
  "$bin/nmt-eval" -c "$config"
  say "200 pairs that join words as the training set never does: greedy search, then beam search"
  local novel=(-m "$run/best" --source "$corpus/test_novel.de" --reference "$corpus/test_novel.en")
  "$bin/nmt-eval" "${novel[@]}" --beam-size 1
  "$bin/nmt-eval" "${novel[@]}"
}

translate() {
  local new
  new=$(printf '%s\n' "${sentences[@]}" | grep -vxF -f <(cat "$corpus"/*.de)) || die "no sentence that $corpus lacks"
  say "sentences that stand in no file of the corpus"
  paste -d '\n' <(printf '%s\n' "$new") <(printf '%s\n' "$new" | "$bin/nmt-translate" -m "$run/best" --quiet) |
    sed 'n; s/^/    /'
}

started=$SECONDS
./scripts/setup.sh
configure_release
build_programs
make_corpus
built=$SECONDS

say "nmt-prepro -c $config"
"$bin/nmt-prepro" -c "$config"
say "nmt-train -c $config"
"$bin/nmt-train" -c "$config"
evaluate
translate
say "done: set-up and build $((built - started)) s, from raw text to scores $((SECONDS - built)) s"
say "next: $bin/nmt-translate -m $run/best, or a run on your own text (README.md)"
