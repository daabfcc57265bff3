#include "training/checkpoints/progress_state.h"

namespace nmt {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchPosition, epoch, batch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochSums, epoch, loss, label_loss, target_tokens)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoredUpdate, update, score)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Plateau, factor, validations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgressState, update, position, target_tokens, epoch, seconds, validated_update,
                                   best_score, best_update, validations_since_best, averaged_update, skipped_updates,
                                   skipped_in_a_row, events, precision, device, kernels, cpu, torch_version, data_hash,
                                   threads)

// The first version had neither of the last two.
nlohmann::json ProgressState::to_json() const {
  nlohmann::json json = *this;
  json["best_validations"] = best_validations;
  json["plateau"] = plateau;
  return json;
}

ProgressState ProgressState::from_json(const nlohmann::json& json) {
  auto state = json.get<ProgressState>();
  state.best_validations = json.value("best_validations", state.best_validations);
  state.plateau = json.value("plateau", state.plateau);
  return state;
}

}  // namespace nmt
