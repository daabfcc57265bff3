#include "training/teacher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "base/error.h"
#include "models/model_directory.h"

namespace nmt {
namespace {

LoadedModel load_whole(const std::string& directory, torch::Device device) {
  try {
    return load_model(directory, device);
  } catch (const Error& error) {
    throw Error(fmt::format("training.teacher {}", error.what()));
  }
}

}  // namespace

std::shared_ptr<TranslationModel> load_teacher(const TrainingConfig& config, const TextCodec& codec,
                                               torch::Device device) {
  if (config.objective != ObjectiveKind::kDistillation) return nullptr;
  const auto loaded = std::make_shared<const LoadedModel>(load_whole(config.teacher, device));
  require_float32(*loaded, "training.teacher");
  if (const auto differences = codec_differences(loaded->codec, codec); !differences.empty())
    throw Error(
        fmt::format("training.teacher {}: {}; prepare the data with the teacher's vocabulary (data.spm_model1), or "
                    "name a teacher of theirs",
                    config.teacher, fmt::join(differences, ", ")));
  return {loaded, loaded->model.get()};  // its weights lie in the file that it holds
}

}  // namespace nmt
