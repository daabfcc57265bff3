#!/usr/bin/env bash
# Fuzzes the readers of foreign bytes (tests/fuzz/targets/*_target.cpp) with clang's libFuzzer under the address and undefined-
# behaviour sanitizers, from their seeds. Builds in build-fuzz; what is found new is kept in build-fuzz/corpus.
#   ./scripts/fuzz.sh [--seconds N] [--keep] [TARGET...]    each target for N seconds (60), as many at a time as processors
#   ./scripts/fuzz.sh --coverage                            lines of the readers that seeds and corpus reach (llvm-cov)
#       --keep       then adds to tests/fuzz/seeds what reaches more than the seeds do, a little of each target
# Prints the executions of each target. Exit code 1 if one of them found something (its input is in build-fuzz/findings),
# 77 without clang where it cannot be installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fuzz_folder=build-fuzz
seconds=60 keep='' coverage='' wanted=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/fuzz.sh; exit 0 ;;
    --seconds) seconds=${2:?--seconds needs a number}; shift ;;
    --keep) keep=yes ;;
    --coverage) coverage=yes ;;
    -*) die "$1: no such option (see --help)" ;;
    *) wanted+=("$1") ;;
  esac
  shift
done

# The sources that read foreign bytes.
readers=(
  interfaces/archive/zip_archive
  interfaces/convert/formats/array interfaces/convert/formats/hugging_face_folder interfaces/convert/formats/pickle
  interfaces/convert/formats/sentencepiece_model interfaces/convert/formats/torch_file
  interfaces/convert/formats/weight_file interfaces/convert/formats/zip_members interfaces/convert/marian/marian_folder
  interfaces/convert/marian/marian_import interfaces/convert/marian/marian_npz
  interfaces/convert/marian/marian_vocabulary interfaces/convert/t5/t5_import interfaces/convert/t5/t5_parts
  interfaces/documents/formats/html_document interfaces/documents/formats/plain_document
  interfaces/documents/formats/po_catalog interfaces/documents/formats/subtitles interfaces/documents/formats/xliff
  interfaces/documents/packages/epub interfaces/documents/packages/office_open_xml
  interfaces/documents/packages/open_document interfaces/documents/packages/packaged_document
  interfaces/documents/segments/segment_builder interfaces/documents/segments/segment_collector
  interfaces/documents/segments/text_document interfaces/documents/tokens/html_tokenizer
  interfaces/documents/tokens/markup_token interfaces/documents/tokens/xml_tokenizer interfaces/server/http/form
  interfaces/server/http/http_message interfaces/server/http/request_parser interfaces/server/request_body
  src/base/files/line_reader src/base/files/protocol_buffer src/base/files/stored_weights src/base/files/strict_json
  src/config/loading/model_description src/config/loading/old_programs src/config/loading/schema
  src/config/loading/yaml_reader src/data/lexicon src/data/manifest src/data/prepared_corpus src/text/codec/codec
  src/text/corpus/text_reader src/text/pairs/corpus_reader src/text/pairs/line_pairs_readers src/text/pairs/pair_formats
  src/text/pairs/pair_reader src/text/pairs/xml_pairs_reader src/text/place_tags
  src/text/sentencepiece/sentencepiece_tokenizer src/text/sentencepiece/subword_sampler src/text/word_links
  src/text/words)

# configure_clang FOLDER [cmake arguments]
configure_clang() {
  configure asan "$1" -B "$1" "${@:2}" -DCMAKE_C_COMPILER="clang-$clang_release" -DCMAKE_CXX_COMPILER="clang++-$clang_release" \
    -DNMT_FUZZ=ON
}

names() { local file; for file in tests/fuzz/targets/*_target.cpp tests/fuzz/targets/*/*_target.cpp; do basename "$file" _target.cpp; done; }

# A folder for the files that targets write: in memory where there is one.
scratch=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/nmt-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# fuzz NAME: a line for it goes to standard output.
fuzz() {
  local name=$1 log=$fuzz_folder/$1.log state=ok
  mkdir -p "$fuzz_folder/corpus/$name" "$fuzz_folder/findings"
  TMPDIR=$scratch UBSAN_OPTIONS=print_stacktrace=1 "$fuzz_folder/tests/fuzz/fuzz_$name" -max_total_time="$seconds" \
    -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=8192 -use_value_profile=1 -print_final_stats=1 \
    -artifact_prefix="$fuzz_folder/findings/$name-" \
    "$fuzz_folder/corpus/$name" "tests/fuzz/seeds/$name" >"$log" 2>&1 || state="FOUND SOMETHING: see $log"
  awk -v name="$name" -v state="$state" '
    / cov: / { for (i = 1; i < NF; ++i) { if ($i == "cov:") cov = $(i + 1); if ($i == "corp:") corpus = $(i + 1) } }
    /number_of_executed_units/ { runs = $2 } /peak_rss_mb/ { memory = $2 }
    END { printf "%-18s %10d executions, %6d edges, corpus %-14s %4d MB  %s\n", name, runs, cov, corpus, memory, state }' "$log"
  [ "$state" = ok ] || touch "$scratch/found"
}

# keep_seeds NAME: the smallest inputs of the corpus that together reach what it reaches and the seeds do not.
keep_seeds() {
  local name=$1 chosen=$scratch/chosen.$1 most=24576 file size
  mkdir -p "$chosen"
  TMPDIR=$scratch "$fuzz_folder/tests/fuzz/fuzz_$name" -set_cover_merge=1 -max_len=4096 "$chosen" "tests/fuzz/seeds/$name" \
    "$fuzz_folder/corpus/$name" >"$fuzz_folder/$name.merge.log" 2>&1 || die "$name: see $fuzz_folder/$name.merge.log"
  while read -r size file; do
    [ "$most" -ge "$size" ] || break
    if [ -n "$(find "tests/fuzz/seeds/$name" -type f -size "${size}c" -exec cmp -s {} "$file" \; -print -quit)" ]; then continue; fi
    cp "$file" "tests/fuzz/seeds/$name/"
    most=$((most - size))
  done < <(find "$chosen" -type f -printf '%s %p\n' | sort -n)
}

# Without sanitizers: the same readers, on seeds and corpus, with counters.
print_coverage() {
  local folder=$fuzz_folder-coverage name seeds profile=$scratch/all.profdata objects=()
  configure_clang "$folder" -DNMT_SANITIZE= -DCMAKE_CXX_FLAGS="-fprofile-instr-generate -fcoverage-mapping"
  cmake --build "$folder" -j "$(build_jobs)" --target nmt_fuzzers >&2 || die "the build failed: see above"
  for name in $(names); do
    seeds=("tests/fuzz/seeds/$name")
    if [ -d "$fuzz_folder/corpus/$name" ]; then seeds+=("$fuzz_folder/corpus/$name"); fi
    TMPDIR=$scratch LLVM_PROFILE_FILE=$scratch/$name.profraw "$folder/tests/fuzz/fuzz_$name" -runs=0 "${seeds[@]}" \
      >"$folder/$name.log" 2>&1 || die "$name: see $folder/$name.log"
    objects+=(-object "$folder/tests/fuzz/fuzz_$name")
  done
  "llvm-profdata-$clang_release" merge -sparse "$scratch"/*.profraw -o "$profile"
  "llvm-cov-$clang_release" export "${objects[@]:1}" -instr-profile="$profile" -summary-only \
    "${readers[@]}" >/dev/null 2>&1 || true
  "llvm-cov-$clang_release" report "${objects[@]:1}" -instr-profile="$profile" $(printf '%s.cpp ' "${readers[@]}") |
    awk '/\.cpp/ { printf "%-52s %5d lines  %s\n", $1, $8, $10 }'
}

install_clang || exit 77
if [ -n "$coverage" ]; then
  print_coverage
  exit 0
fi
[ ${#wanted[@]} -gt 0 ] || mapfile -t wanted < <(names)
configure_clang "$fuzz_folder" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link
cmake --build "$fuzz_folder" -j "$(build_jobs)" --target "${wanted[@]/#/fuzz_}" >&2 || die "the build failed: see above"
running=0
for name in "${wanted[@]}"; do
  if [ $((running++)) -ge "$(nproc)" ]; then wait -n; fi
  fuzz "$name" &
done
wait
if [ -n "$keep" ]; then
  for name in "${wanted[@]}"; do keep_seeds "$name"; done
fi
[ ! -e "$scratch/found" ]
