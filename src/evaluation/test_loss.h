#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/files/strict_json.h"
#include "evaluation/test_set.h"
#include "models/model_directory.h"

namespace nmt {

/// How well a model predicts the first references of a test set. Counted is each piece of a reference, as the model's
/// tokenizer cuts it, and its end symbol; <s> and padding are not. There is no label smoothing and no dropout. For the
/// text of the validation set it is what a validation measures.
struct TestLoss {
  double loss = 0;  ///< mean of -log p(token), nats
  double accuracy = 0;
  int64_t target_tokens = 0;
  int64_t pairs = 0;
  int64_t too_long = 0;  ///< pairs that the model has no places for: not counted above
  double teacher_forcing = 1;

  double perplexity() const;  ///< exp of the loss
  /// "loss = 1.6711, perplexity = 5.3180 (14,058 target tokens)", at least four digits after the point.
  std::string format(int width = 4) const;
};

struct TestLossOptions {
  /// Share of steps at which the decoder reads the reference; at the others it reads its own most probable token. Below
  /// 1 for recurrent models only.
  double teacher_forcing = 1;
  std::string source_language = {};            ///< decoding.source_language; empty: the model's own
  std::string target_language = {};            ///< decoding.target_language; empty: as the sources say
  std::function<void(int64_t)> progress = {};  ///< called with the number of pairs done so far
};

/// Throws Error for a teacher_forcing that the model cannot have.
void check_teacher_forcing(const ModelFiles& loaded, double teacher_forcing);

/// Throws Error as check_teacher_forcing(), and for a set of which no pair fits.
TestLoss test_loss(TranslationModel& model, const ModelFiles& loaded, const TestSet& test_set,
                   const TestLossOptions& options = {});

/// {"loss", "perplexity", "accuracy", "target_tokens", "pairs", "too_long", "teacher_forcing"}
nlohmann::ordered_json report_of(const TestLoss& loss);

}  // namespace nmt
