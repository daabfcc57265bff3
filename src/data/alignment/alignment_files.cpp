#include "data/alignment/alignment_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/log.h"
#include "base/process/program_description.h"
#include "base/threads.h"
#include "data/alignment/lexicon_training.h"
#include "data/lexicon.h"
#include "data/manifest.h"
#include "data/pair_scores.h"
#include "data/prepared_corpus.h"

namespace nmt {
namespace {

/// The links of a pair as a table.
class LinkTable {
 public:
  LinkTable(int64_t sources, int64_t targets)
      : sources_(sources), linked_(sources * targets), source_has_(sources), target_has_(targets) {}

  bool has(int64_t source, int64_t target) const {
    return source >= 0 && target >= 0 && source < sources_ && target < std::ssize(target_has_) &&
           linked_[target * sources_ + source];
  }
  void add(int64_t source, int64_t target) {
    linked_[target * sources_ + source] = source_has_[source] = target_has_[target] = 1;
  }
  bool source_has(int64_t source) const { return source_has_[source]; }
  bool target_has(int64_t target) const { return target_has_[target]; }
  bool has_neighbour(int64_t source, int64_t target) const {
    for (int64_t s = source - 1; s <= source + 1; ++s)
      for (int64_t t = target - 1; t <= target + 1; ++t)
        if (has(s, t)) return true;
    return false;
  }
  /// Calls body(source, target) for all links, ascending by target.
  template <typename Body>
  void for_each(const Body& body) const {
    for (int64_t t = 0; t < std::ssize(target_has_); ++t)
      for (int64_t s = 0; s < sources_; ++s)
        if (linked_[t * sources_ + s]) body(s, t);
  }

 private:
  int64_t sources_;
  std::vector<char> linked_, source_has_, target_has_;
};

}  // namespace

std::vector<PieceLink> grow_diagonal(std::span<const int32_t> forward, std::span<const int32_t> reversed) {
  const int64_t sources = std::ssize(reversed), targets = std::ssize(forward);
  LinkTable either(sources, targets), table(sources, targets);
  for (int64_t t = 0; t < targets; ++t) {
    if (forward[t] < 0) continue;
    either.add(forward[t], t);
    if (reversed[forward[t]] == t) table.add(forward[t], t);
  }
  for (int64_t s = 0; s < sources; ++s)
    if (reversed[s] >= 0) either.add(s, reversed[s]);
  for (bool grown = true; grown;) {
    grown = false;
    either.for_each([&](int64_t s, int64_t t) {
      if (table.has(s, t) || (table.source_has(s) && table.target_has(t)) || !table.has_neighbour(s, t)) return;
      table.add(s, t);
      grown = true;
    });
  }
  std::vector<PieceLink> links;
  table.for_each([&](int64_t s, int64_t t) {
    links.push_back({.source = static_cast<uint16_t>(s), .target = static_cast<uint16_t>(t)});
  });
  return links;
}

namespace {

constexpr int64_t kPairsAtOnce = 1 << 16;

bool is_aligned(const PiecePairs& pairs, int64_t pair) {
  const int64_t source = std::ssize(pairs.source(pair)), target = std::ssize(pairs.target(pair));
  return source <= kLongestAligned && target <= kLongestAligned && pairs.prefix_length(pair) + source <= kLongestLinked;
}

}  // namespace

std::optional<AlignedPairs> align_pairs(const PiecePairs& pairs, int64_t source_vocabulary, int64_t target_vocabulary,
                                        const HmmOptions& options) {
  int64_t before = 0;  // of the first model
  HmmOptions own = options;
  own.progress = [&](int64_t done, int64_t all) {
    if (options.progress) options.progress(before + done, 2 * all);
  };
  const auto forward = HmmAligner::train(pairs, source_vocabulary, target_vocabulary, own);
  before = pairs.size() * (options.model_one_iterations + options.iterations);
  const auto reversed =
      forward ? HmmAligner::train(pairs.exchanged(), target_vocabulary, source_vocabulary, own) : std::nullopt;
  if (!reversed) return std::nullopt;
  AlignedPairs aligned;
  aligned.scores.assign(static_cast<size_t>(pairs.size()), kWorstScore);
  std::vector<std::vector<PieceLink>> links;
  for (int64_t begin = 0; begin < pairs.size(); begin += kPairsAtOnce) {
    if (options.should_stop()) return std::nullopt;
    const int64_t count = std::min(kPairsAtOnce, pairs.size() - begin);
    links.assign(count, {});
    parallel_for(count, 64, options.threads, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t pair = begin + i;
        if (!is_aligned(pairs, pair)) continue;
        const auto source = pairs.source(pair), target = pairs.target(pair);
        double of_target = 0, of_source = 0;
        links[i] =
            grow_diagonal(forward->align(source, target, &of_target), reversed->align(target, source, &of_source));
        if (!source.empty() && !target.empty())
          aligned.scores[pair] =
              (of_target / static_cast<double>(target.size()) + of_source / static_cast<double>(source.size())) / 2;
        for (auto& link : links[i]) link.source = static_cast<uint16_t>(link.source + pairs.prefix_length(pair));
      }
    });
    for (const auto& of_pair : links) {
      aligned.links.insert(aligned.links.end(), of_pair.begin(), of_pair.end());
      aligned.ends.push_back(aligned.links.size());
    }
  }
  return aligned;
}

std::optional<std::string> write_lexicon(const std::filesystem::path& folder, const TextCodec& codec,
                                         int64_t candidates, const AlignmentFilesOptions& options, Logger& log) {
  const PreparedCorpus pairs(folder / "train.bin");
  ProgressBar progress("lexicon", 0, "pairs");
  const auto made =
      train_lexicon({pairs, PairDirection::kForward, &codec}, codec.source().size(), codec.target().size(),
                    {.candidates = candidates,
                     .threads = options.threads,
                     .should_stop = options.should_stop,
                     .progress = [&](int64_t done, int64_t) { progress.update(done); }});
  if (!made) return {};
  std::vector<std::vector<int32_t>> best;
  int64_t pieces = 0, translations = 0;
  for (const auto& row : made->best) {
    auto& ids = best.emplace_back();
    for (const auto& one : row) ids.push_back(one.target);
    pieces += row.empty() ? 0 : 1;
    translations += std::ssize(row);
  }
  Lexicon(std::move(best), made->frequent, candidates, vocabularies_of(codec)).write(folder / kLexiconFile);
  progress.clear();
  log.info("{}: {} source pieces with {} translations (data.shortlist {})", kLexiconFile, with_commas(pieces),
           with_commas(translations), candidates);
  return sha256_of_file(folder / kLexiconFile);
}

std::optional<std::string> write_alignment(const std::filesystem::path& folder, const TextCodec& codec,
                                           const SplitRecord& train, const AlignmentFilesOptions& options,
                                           Logger& log) {
  const PreparedCorpus pairs(folder / "train.bin");
  ProgressBar progress("alignment", 0, "pairs");
  const auto aligned = align_pairs(
      {pairs, PairDirection::kForward, &codec}, codec.source().size(), codec.target().size(),
      {.threads = options.threads, .should_stop = options.should_stop, .progress = [&](int64_t done, int64_t) {
         progress.update(done);
       }});
  if (!aligned) return {};
  write_piece_links(folder / kPieceLinksFile, aligned->ends, aligned->links);
  AtomicFile scores(score_file(folder, PairScore::kAligner));
  scores.write(score_header(train, "nmt " + version()));
  for (const double score : aligned->scores) scores.write(score_line(score));
  scores.commit();
  progress.clear();
  log.info("{}: {} links in {} pairs (data.alignment)", kPieceLinksFile, with_commas(std::ssize(aligned->links)),
           with_commas(pairs.size()));
  return sha256_of_file(folder / kPieceLinksFile);
}

}  // namespace nmt
