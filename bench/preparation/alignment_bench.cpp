// Word alignments of a prepared split by the aligners of nmt-prepro, which learn from its training pairs:
//   alignment_bench PREPARED_DIR SPLIT HOW [THREADS] > links
// HOW: model1, hmm, reversed (one direction each), or grow_diagonal (both). A line a pair, source-target from 0, words
// between white space; alignment_error_rate.py compares them with links made by hand.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "data/alignment/alignment_files.h"
#include "data/manifest.h"
#include "data/prepared_corpus.h"
#include "text/codec/codec.h"
#include "text/codec/word_pieces.h"

namespace nmt {
namespace {

std::vector<PieceLink> links_of(const HmmAligner& aligner, std::span<const int32_t> from, std::span<const int32_t> to,
                                bool reversed) {
  std::vector<PieceLink> links;
  const auto found = aligner.align(from, to);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == HmmAligner::kEmpty) continue;
    const auto at = static_cast<uint16_t>(i), other = static_cast<uint16_t>(found[i]);
    links.push_back(reversed ? PieceLink{.source = at, .target = other} : PieceLink{.source = other, .target = at});
  }
  return links;
}

void run(const std::filesystem::path& folder, const std::string& split, const std::string& how, int threads) {
  const auto manifest = Manifest::read(folder);
  const auto codec = TextCodec::load(folder, manifest.tokenizer);
  const PreparedCorpus train(folder / "train.bin"), pairs(folder / (split + ".bin"));
  const int64_t sources = codec.source().size(), targets = codec.target().size();
  const auto start = std::chrono::steady_clock::now();
  HmmOptions options{.threads = threads};
  if (how == "model1") options.iterations = 0;
  const bool both = how == "grow_diagonal", backwards = how == "reversed";
  if (!both && !backwards && how != "model1" && how != "hmm") throw Error(how + ": no such aligner");
  std::optional<HmmAligner> forward, reversed;
  if (!backwards) forward = HmmAligner::train(train, sources, targets, options);
  if (both || backwards) reversed = HmmAligner::train({train, PairDirection::kReversed}, targets, sources, options);
  fmt::print(stderr, "{} pairs, {} threads: {:.1f} s\n", train.size(), threads,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  for (int64_t pair = 0; pair < pairs.size(); ++pair) {
    const auto source = pairs.source(pair), target = pairs.target(pair);
    const auto links = both ? grow_diagonal(forward->align(source, target), reversed->align(target, source))
                            : links_of(backwards ? *reversed : *forward, backwards ? target : source,
                                       backwards ? source : target, backwards);
    const auto of_source = source_words(codec, pairs.source_text(pair), source).word_of_piece;
    const auto of_target = target_words(codec, target).word_of_piece;
    std::set<std::pair<int64_t, int64_t>> words;
    for (const auto& link : links) words.emplace(of_source[link.source], of_target[link.target]);
    std::string line;
    for (const auto& [s, t] : words) line += fmt::format("{}{}-{}", line.empty() ? "" : " ", s, t);
    fmt::print("{}\n", line);
  }
}

}  // namespace
}  // namespace nmt

int main(int count, char** arguments) try {
  if (count < 4) throw nmt::Error("usage: alignment_bench PREPARED_DIR SPLIT HOW [THREADS]");
  nmt::run(arguments[1], arguments[2], arguments[3], count > 4 ? std::stoi(arguments[4]) : 1);
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
