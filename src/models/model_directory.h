#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/mapped_file.h"
#include "base/files/strict_json.h"
#include "config/config.h"
#include "data/lexicon.h"
#include "models/interface/model.h"
#include "models/interface/safetensors.h"
#include "search/ready_model.h"
#include "text/codec/codec.h"

namespace nmt {

/// The architectures: one switch. Throws Error naming all of them for an unknown one.
std::shared_ptr<TranslationModel> make_model(const ModelConfig& config, int64_t source_vocabulary,
                                             int64_t target_vocabulary);

/// Initial weights, a function of (config, seed): each module draws its own (HasInitialValues) from what the
/// configuration says.
void initialise(TranslationModel& model, const ModelConfig& config, uint64_t seed);

/// A model directory: model.json (format version, architecture, tokenizer and decoding settings, training summary,
/// scores), model.safetensors, the tokenizer's files, and shortlist.bin where nmt-prepro made a lexicon. Copy it
/// anywhere, nothing else is needed. The matrices of a quantized one (base/files/stored_weights.h) are int8 or
/// bfloat16: it can be searched with on the CPU, after prepare_decoding() with that precision, and nothing else.
/// Nothing of its file is read after that.
struct LoadedModel : ModelFiles {
  std::shared_ptr<TranslationModel> model = {};
  std::shared_ptr<const MappedFile> weights = {};     ///< where the parameters lie while the model is on the CPU
  std::shared_ptr<const WeightScales> scales = {};    ///< of matrices that are int8
  std::shared_ptr<const MappedFileGuard> guard = {};  ///< of a quantized directory, until it is prepared
};

/// All parameters under their names, in the model's order.
NamedTensors named_parameters(const TranslationModel& model);

/// Writes all files into an existing empty folder (the caller renames it into place); lexicon may be null. Throws
/// MachineError.
void save_model(const std::filesystem::path& directory, const TranslationModel& model, const Config& config,
                const TextCodec& codec, const nlohmann::json& summary, const Lexicon* lexicon = nullptr);

/// Throws Error for a missing, damaged or foreign directory: names the file and what is wrong with it; and for an int8
/// directory where the device is no CPU. Elsewhere than on the CPU the parameters of a bf16 directory are float32.
/// adapter: a file whose updates are added to the weights; empty: none. Throws Error where it is for other weights.
LoadedModel load_model(const std::filesystem::path& directory, torch::Device device,
                       const std::filesystem::path& adapter = {});
/// Throws Error for a quantized directory; `purpose` says what needs more ("training.init_from").
void require_float32(const ModelFiles& loaded, std::string_view purpose);

}  // namespace nmt
