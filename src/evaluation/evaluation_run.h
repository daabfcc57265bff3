#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files/strict_json.h"
#include "base/process/log.h"
#include "config/config.h"
#include "evaluation/evaluation.h"
#include "evaluation/test_loss.h"
#include "evaluation/test_set.h"
#include "models/model_directory.h"
#include "translation/model_set.h"

namespace nmt {

/// FOLDER/N.svg for each sentence N (from 1): the last layer where the target looks at the source, when the model reads
/// its own translation; FOLDER/N.json: the weights of all layers. Throws Error for a model without attention, and as
/// write_file_atomically.
void write_attention(const std::filesystem::path& folder, std::span<const int64_t> sentences, const ReadyModel& loaded,
                     const TextCodec& codec, const TestSet& test_set, const std::vector<std::string>& hypotheses);

/// A model to evaluate, or several that translate together, and how.
struct System {
  std::vector<std::filesystem::path> directories = {};
  std::optional<DecodingConfig> decoding = {};  ///< of the run's configuration; none: the first model's own

  std::string name() const;  ///< the directories, " + " between them
};

/// Which models a user names.
struct SystemChoice {
  std::vector<std::string> models = {};  ///< directories; empty: the run's best model
  bool ensemble = false;                 ///< all of them are one system
  const Config* run = nullptr;           ///< the run's configuration, where one is given
  std::string config_file = {};          ///< its name, for messages
};
/// Throws Error where no model is named and the run has no best one yet.
std::vector<System> systems_of(const SystemChoice& choice);

struct EvaluationOptions {
  ModelSetOptions models = {};  ///< of each system, but for its directories and its decoding
  Choices<TokenizedBleuForm> tokenized_bleu = {};
  bool lowercase = false;      ///< BLEU and chrF2 of lower-cased text
  bool loss = true;            ///< of a single model, see test_loss(); an ensemble has none
  double teacher_forcing = 1;  ///< of the loss
  bool confidence = false;     ///< 95 % intervals by 1000 bootstrap resamples
  bool rerank = false;         ///< as rerank.json of a system's first directory says
  bool quiet = false;          ///< no progress bar and no line for each test set in the log
  /// Languages of the test sets, source and target: a model of others is warned of. Empty: not known.
  std::pair<std::string, std::string> languages = {};
  std::filesystem::path attention_folder = {};               ///< of write_attention(); empty: no pictures
  std::vector<int64_t> attention_sentences = {};             ///< from 1
  std::function<bool()> should_stop = [] { return false; };  ///< asked often, by several threads at once
};

/// What one system did on one test set.
struct Evaluated {
  SystemOutput output = {};
  std::vector<scoring::Score> scores = {};
  std::optional<TestLoss> loss = {};
  nlohmann::ordered_json report = {};  ///< scores, loss, speed, settings
};

/// Evaluates one system after the other; only one is in memory at a time.
class EvaluationRun {
 public:
  EvaluationRun(EvaluationOptions options, Logger& log) : options_(std::move(options)), log_(log) {}

  /// One result a test set; nullopt: should_stop said so. Throws Error as ModelSet, evaluation_metrics() and
  /// write_attention().
  std::optional<std::vector<Evaluated>> evaluate(const System& system, const std::vector<TestSet>& test_sets);

  /// The comparison of results of several systems, in their order, on one test set.
  scoring::PairedTable compared(const std::vector<Evaluated>& systems, const TestSet& test_set) const;

 private:
  Evaluated evaluate(const System& system, const ModelSet& models, const Reranker* reranker,
                     const TestSet& test_set) const;
  void add_losses(const ModelSet& models, const std::vector<TestSet>& test_sets, std::vector<Evaluated>& results) const;
  TestLoss measured_loss(const ModelSet& models, const TestSet& test_set) const;
  void report_set(const Evaluated& result, const TestSet& test_set) const;
  void warn_of_languages(const ReadyModel& model) const;

  EvaluationOptions options_;
  Logger& log_;
  Metrics metrics_;  // made for the target language of the first system
};

}  // namespace nmt
