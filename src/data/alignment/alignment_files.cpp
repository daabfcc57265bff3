#include "data/alignment/alignment_files.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/process/progress.h"
#include "data/alignment/align_pairs.h"
#include "data/alignment/lexicon_training.h"
#include "data/lexicon.h"
#include "data/manifest.h"
#include "data/piece_links.h"
#include "data/prepared_corpus.h"

namespace nmt {

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
                                           const AlignmentFilesOptions& options, Logger& log) {
  const PreparedCorpus pairs(folder / "train.bin");
  ProgressBar progress("alignment", 0, "pairs");
  const auto aligned = align_pairs(
      {pairs, PairDirection::kForward, &codec}, codec.source().size(), codec.target().size(),
      {.threads = options.threads, .should_stop = options.should_stop, .progress = [&](int64_t done, int64_t) {
         progress.update(done);
       }});
  if (!aligned) return {};
  write_piece_links(folder / kPieceLinksFile, aligned->ends, aligned->links);
  progress.clear();
  log.info("{}: {} links in {} pairs (data.alignment)", kPieceLinksFile, with_commas(std::ssize(aligned->links)),
           with_commas(pairs.size()));
  return sha256_of_file(folder / kPieceLinksFile);
}

}  // namespace nmt
