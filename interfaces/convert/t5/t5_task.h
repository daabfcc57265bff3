#pragma once

#include <optional>
#include <string>

#include "convert/hugging_face/hugging_face_folder.h"

namespace nmt::convert {

/// What to do with a model that can do several things.
struct T5Choice {
  std::string task = {};                          ///< a name of task_specific_params; empty: the only translation
  std::optional<std::string> source_prefix = {};  ///< instead of the task's prefix
};

/// A task of a T5 model: a text before each source sentence tells it what to do (Raffel et al. 2020, sec. 2.4).
struct T5Task {
  std::string prefix = {};                                       ///< "translate English to German: "
  std::string source_language = "src", target_language = "tgt";  ///< codes, of a name like translation_en_to_de
  /// How transformers generates for it.
  HuggingFaceConfig settings{"", nlohmann::json::object()};
};

/// Reads task_specific_params of config.json. A model that names no task has none. Throws Error for a task that is not
/// there, a prefix that is no text, and several translations without a choice.
T5Task choose_t5_task(const HuggingFaceConfig& config, const T5Choice& choice);

}  // namespace nmt::convert
