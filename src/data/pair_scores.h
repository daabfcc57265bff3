#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files/strict_json.h"
#include "config/config.h"
#include "data/manifest.h"

namespace nmt {

/// The columns of scores that stand beside train.bin, NAME.scores: nmt-translate --score-corpus writes `forward` and
/// `backward`, nmt-prepro `aligner`. A file is text: a line of JSON that says of which train.bin it is and who made it,
/// then a line for each pair: the mean log-probability of its pieces (natural logarithm; 0 is certain).
///
/// PairScore::kDual has no file. It is what forward (f) and backward (b) say together, less where they disagree, the
/// logarithm of equation 2 of Junczys-Dowmunt (2018), "Dual Conditional Cross-Entropy Filtering of Noisy Parallel
/// Corpora": (f + b) / 2 - |f - b|.
std::filesystem::path score_file(const std::filesystem::path& folder, PairScore score);

/// The least score: of a pair that cannot be judged.
constexpr double kWorstScore = -100;

/// The first line of such a file. made_by: models, for a reader.
std::string score_header(const SplitRecord& train, const nlohmann::json& made_by);
/// A further line; what is no number of that range becomes the worst score.
std::string score_line(double score);

/// The scores of all training pairs of a prepared folder. train: of its manifest. Throws Error for a column that is
/// missing (and says how to make it), damaged or of another train.bin.
std::vector<float> read_pair_scores(const std::filesystem::path& folder, const SplitRecord& train, PairScore score);

/// What data.keep_best and training.pair_weights make of the training pairs.
struct PairSelection {
  /// How often an epoch has each pair, on average once of those that are kept, 0 of the others; null: each once.
  std::shared_ptr<const std::vector<float>> weights = {};
  std::vector<std::string> summary = {};  ///< for the log
  std::string hash = {};                  ///< of the columns that were read; empty: none
};

/// A function of the options and the columns in config.data.dir. Of equal scores at the border all are kept. Throws
/// Error that names all columns that are missing, else as read_pair_scores().
PairSelection select_pairs(const Config& config, const Manifest& manifest);

}  // namespace nmt
