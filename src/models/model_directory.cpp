#include "models/model_directory.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/files/adapter.h"
#include "base/files/stored_weights.h"
#include "base/random.h"
#include "config/loading/model_description.h"
#include "models/interface/model_initial_values.h"
#include "models/interface/safetensors.h"
#include "models/recurrent/recurrent_model.h"
#include "models/transformer/transformer.h"
#include "nn/device/device.h"
#include "nn/ops/initial_values.h"

namespace nmt {

std::shared_ptr<TranslationModel> make_model(const ModelConfig& config, int64_t source_vocabulary,
                                             int64_t target_vocabulary) {
  switch (config.architecture) {
    case Architecture::kTransformer:
      return std::make_shared<Transformer>(config, source_vocabulary, target_vocabulary);
    case Architecture::kRecurrent:
      return std::make_shared<RecurrentModel>(config, source_vocabulary, target_vocabulary);
  }
  return nullptr;
}

void initialise(TranslationModel& model, const ModelConfig& config, uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(mix64(seed));
  reset_all_parameters(model, initial_values(config), generator);
}

}  // namespace nmt

namespace fs = std::filesystem;

namespace nmt {
namespace {

constexpr const char* kWeights = "model.safetensors";

/// The network that model.json describes. Throws Error, before it takes the memory, where it is far larger than the
/// weights in the file; where it is a little off, share_with() names the tensor.
std::shared_ptr<TranslationModel> make_model_for(const SafetensorsFile& weights, const LoadedModel& loaded,
                                                 const fs::path& directory) {
  int64_t elements = 0;
  for (const auto& [name, tensor] : weights.tensors) elements += tensor.numel();
  try {
    constexpr int64_t kSlack = 1 << 24;
    const ParameterLimit limit(2 * elements + kSlack);
    return make_model(loaded.config.model, loaded.codec.source().size(), loaded.codec.target().size());
  } catch (const ParameterLimit::Exceeded&) {
    throw Error(fmt::format("{}: describes far more weights than the {} of {}: not of one model; copy it again",
                            (directory / "model.json").string(), elements, (directory / kWeights).string()));
  }
}

/// Puts a quantized directory's weights in the place of the model's parameters. Throws Error where one is missing, of
/// another shape or of no part of the model.
void take_quantized(LoadedModel& loaded, const MappedSafetensors& mapped, const fs::path& path, torch::Device device) {
  const auto weights =
      stored_weights(read_safetensors_index(mapped.mapping->bytes(), path.string()), loaded.stored, path.string());
  const auto packed = loaded.model->packed_parameters();
  auto scales = std::make_shared<WeightScales>();
  SafetensorsFile file;
  for (const auto& [name, weight] : weights) {
    const auto& tensor = mapped.file.tensors.at(name);
    if (weight.values.type != "F32" && !packed.contains(name))
      throw Error(fmt::format("{}: tensor {} is {}, the model needs it in float32; export the model again",
                              path.string(), name, weight.values.type));
    const bool stays = weight.values.type != "F32" && device.is_cpu();
    file.tensors[name] = stays ? tensor : tensor.to(torch::kFloat32, /*non_blocking=*/false, /*copy=*/true);
    if (!weight.scales.empty())
      (*scales)[tensor.const_data_ptr()] = torch::tensor(at::ArrayRef<float>(weight.scales), torch::kFloat32);
  }
  replace_with(named_parameters(*loaded.model), file, path);
  loaded.scales = std::move(scales);
}

/// Puts sums of their own in the place of the matrices that an adapter changes.
void add_adapter(const TranslationModel& model, const Adapter& adapter) {
  for (const auto& [name, parameter] : named_parameters(model)) {
    if (!adapter.factors.contains(name)) continue;
    auto sum = parameter.detach().clone();
    adapter.add_to(name, sum.sizes(), {sum.mutable_data_ptr<float>(), static_cast<size_t>(sum.numel())});
    parameter.set_data(sum);
  }
}

}  // namespace

void require_float32(const ModelFiles& loaded, std::string_view purpose) {
  if (loaded.stored == WeightType::kFloat32) return;
  throw Error(
      fmt::format("{} {}: its weights are {}, which is for translating only; name the float32 directory that it "
                  "was made of",
                  purpose, loaded.directory.string(), loaded.stored.name()));
}

NamedTensors named_parameters(const TranslationModel& model) {
  NamedTensors tensors;
  for (const auto& item : model.named_parameters()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

void save_model(const fs::path& directory, const TranslationModel& model, const Config& config, const TextCodec& codec,
                const nlohmann::json& summary, const Lexicon* lexicon) {
  const ModelDescription description{.config = config,
                                     .tokenizer = codec.save(directory),
                                     .summary = summary,
                                     .parameters = model.parameter_count(),
                                     .source_vocabulary = codec.source().size(),
                                     .target_vocabulary = codec.target().size()};
  save_safetensors(directory / kWeights, named_parameters(model));
  if (lexicon) lexicon->write(directory / kLexiconFile);
  write_model_description(directory, description);
}

LoadedModel load_model(const fs::path& directory, torch::Device device, const fs::path& adapter) {
  LoadedModel loaded{read_model_files(directory)};
  const bool quantized = loaded.stored != WeightType::kFloat32;
  if (loaded.stored == WeightType::kInt8 && !device.is_cpu())
    throw Error(
        fmt::format("{}: its weights are int8, which is for the CPU; use --device cpu, or the float32 directory "
                    "that it was made of",
                    directory.string()));
  const auto mapped = map_safetensors(directory / kWeights, quantized ? MapOptions::kGuarded : MapOptions::kPlain);
  loaded.model = make_model_for(mapped.file, loaded, directory);
  if (quantized)
    take_quantized(loaded, mapped, directory / kWeights, device);
  else
    share_with(named_parameters(*loaded.model), mapped.file, directory / kWeights);
  if (!adapter.empty()) add_adapter(*loaded.model, adapter_of(directory, adapter));
  loaded.weights = mapped.mapping;
  loaded.guard = mapped.guard;
  move_module(*loaded.model, device);
  if (loaded.guard && !device.is_cpu()) {  // nothing is packed there: all has been copied
    loaded.guard->check();
    loaded.guard.reset();
  }
  loaded.model->eval();
  return loaded;
}

}  // namespace nmt
