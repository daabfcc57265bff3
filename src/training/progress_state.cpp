#include "training/progress_state.h"

namespace nmt {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BatchPosition, epoch, batch)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochSums, epoch, loss, label_loss, target_tokens)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgressState, update, position, target_tokens, epoch, seconds, validated_update,
                                   best_score, best_update, validations_since_best, averaged_update, skipped_updates,
                                   skipped_in_a_row, events, precision, device, kernels, cpu, torch_version, data_hash,
                                   threads)

nlohmann::json ProgressState::to_json() const { return *this; }
ProgressState ProgressState::from_json(const nlohmann::json& json) { return json.get<ProgressState>(); }

}  // namespace nmt
