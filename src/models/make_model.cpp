#include "models/make_model.h"

#include <ATen/CPUGeneratorImpl.h>

#include "base/random.h"
#include "models/interface/model_initial_values.h"
#include "models/recurrent/recurrent_model.h"
#include "models/transformer/transformer.h"

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
