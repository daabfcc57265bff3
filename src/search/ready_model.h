#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/choice.h"
#include "base/files/stored_weights.h"
#include "base/files/strict_json.h"
#include "config/config.h"
#include "data/lexicon.h"
#include "search/searchable_model.h"
#include "text/codec/codec.h"

namespace nmt {

/// What stands in a model directory beside the weights.
struct ModelFiles {
  Config config;  ///< model and decoding sections are those of the directory
  TextCodec codec;
  nlohmann::json summary;  ///< training summary and scores, as saved
  int64_t parameters = 0;  ///< as the directory says
  std::filesystem::path directory;
  Choice<WeightType> stored = WeightType::kFloat32;  ///< how the directory holds its matrices
  std::shared_ptr<const Lexicon> lexicon = {};       ///< of read_lexicon(), which loading does not call
  std::string precision = {};                        ///< of decoding, once prepared for it: fp32, bf16 or int8
};

/// A model directory, ready to search.
struct ReadyModel : ModelFiles {
  std::shared_ptr<SearchableModel> model;
};

/// How a model directory is to be loaded.
struct ModelLoading {
  std::filesystem::path directory;
  std::string device = "auto";  ///< auto, cpu, cuda or cuda:N
  /// decoding.precision, by the directory's configuration.
  std::function<DecodingPrecision(const Config&)> precision;
  int threads = 0;  ///< of a program that leaves LibTorch to this; 0: it has set them itself
  /// Whose updates are added to the weights (base/files/adapter.h); empty: none.
  std::filesystem::path adapter = {};
  /// LibTorch is the whole process's, not this program's alone: its settings stay as they are, and do not hold for the
  /// model, whose searches have `threads`.
  bool is_guest = false;
};

/// The files of a model directory. Throws Error for a missing, damaged or foreign one: names the file and what is wrong
/// with it.
ModelFiles read_model_files(const std::filesystem::path& directory);

/// The lexicon of a model directory. Throws Error where there is none (and says how to make one), or where it is
/// damaged or of other vocabularies.
std::shared_ptr<const Lexicon> read_lexicon(const std::filesystem::path& directory, const TextCodec& codec);

/// Throws Error unless all models write with the same target pieces: names two directories that do not.
void require_one_target(std::span<const ReadyModel> models);

}  // namespace nmt

/// The version of the toolkit that libnmt_torch.so belongs to.
extern "C" const char* nmt_torch_version();

/// Makes a model of a directory with LibTorch. A program that is linked with it has this function (src/models); in
/// others it is that of libnmt_torch.so. Throws Error as load_model(), resolve_device() and prepare_decoding(), and of
/// a guest as require_matching_torch() (models/guest_model.h).
extern "C" void nmt_load_with_torch(const nmt::ModelLoading& wanted, std::optional<nmt::ReadyModel>& ready);

/// reuse_freed_tensors() (nn/device/cpu_allocator.h), from where nmt_load_with_torch() is.
extern "C" void nmt_reuse_freed_tensors();
