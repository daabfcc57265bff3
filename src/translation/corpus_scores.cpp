#include "translation/corpus_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/program_description.h"
#include "data/prepared_corpus.h"

namespace nmt {
namespace {

constexpr int64_t kPairsAtOnce = 2048;

PairScore column_of(const std::filesystem::path& folder, const TextCodec::Options& data,
                    const TextCodec::Options& model) {
  if (model.source_language == data.source_language && model.target_language == data.target_language)
    return PairScore::kForward;
  if (model.source_language == data.target_language && model.target_language == data.source_language)
    return PairScore::kBackward;
  throw Error(fmt::format(
      "--score-corpus {}: its pairs are {} to {}, the model translates {} to {}; give one of these "
      "two languages, in either direction",
      folder.string(), data.source_language, data.target_language, model.source_language, model.target_language));
}

/// Log-probability a piece; the worst one of a pair without any.
double score_of(const Alternative& scored) {
  return scored.tokens == 0 ? kWorstScore : scored.log_probability / static_cast<double>(scored.tokens);
}

}  // namespace

LineStreamStatistics score_corpus(const std::filesystem::path& folder, const ModelSet& models,
                                  const Translator& translator, const std::function<bool()>& stop, Logger& log) {
  const Manifest manifest = Manifest::read(folder);
  const auto* train = manifest.find_split("train");
  if (!train) throw damaged_manifest(folder);
  if (const auto tags = manifest.options.find("tags"); tags != manifest.options.end() && tags->second != "none")
    throw Error(
        fmt::format("--score-corpus {}: its pairs are of several languages; prepare each pair of languages in "
                    "a folder of its own",
                    folder.string()));
  const TextCodec codec = TextCodec::load(folder, manifest.tokenizer);
  const PairScore column = column_of(folder, codec.options(), translator.codec().options());
  const PreparedCorpus corpus(folder / "train.bin");
  if (corpus.size() != train->pairs) throw damaged_manifest(folder);
  corpus.verify(train->sha256, codec.source().size(), codec.target().size());

  const auto header = score_header(*train, {{"program", "nmt " + version()}, {"models", models.description()}});
  AtomicFile file(score_file(folder, column), sha256_of_bytes(header).substr(0, 12));
  int64_t done = file.cut_to_lines(corpus.size() + 1) - 1;
  if (done < 0) {
    file.write(header);
    done = 0;
  }
  if (done > 0) log.info("{}: {} pairs are scored from before", file.kept().string(), with_commas(done));
  LineStreamStatistics statistics;
  const auto start = std::chrono::steady_clock::now();
  ProgressBar progress("score", corpus.size(), "pairs");
  try {
    while (done < corpus.size()) {
      std::vector<TextPair> pairs;
      for (int64_t pair = done; pair < std::min(corpus.size(), done + kPairsAtOnce); ++pair) {
        pairs.push_back({std::string(corpus.source_text(pair)), std::string(corpus.target_text(pair))});
        if (column == PairScore::kBackward) std::swap(pairs.back().source, pairs.back().target);
      }
      const TranslationCalls calls{.progress = [&](int64_t count) { progress.update(done + count); }, .stopped = stop};
      for (const auto& scored : translator.score(pairs, calls)) {
        file.write(score_line(score_of(scored)));
        statistics.target_tokens += scored.tokens;
        if (scored.shortened) ++statistics.shortened;
      }
      file.keep();
      done += std::ssize(pairs);
      statistics.lines += std::ssize(pairs);
    }
    file.commit();
  } catch (const TranslationStopped&) {
    statistics.stopped = true;
    if (!file.kept().empty())
      log.info("stopped; {} has what is done, and the same command resumes there", file.kept().string());
  }
  statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return statistics;
}

}  // namespace nmt
