#include "training/checkpoints/progress_state.h"

#include <cmath>
#include <limits>
#include <utility>

namespace nmt {
namespace {

constexpr size_t kMostEvents = 20;

// JSON has no number for what is not finite.
nlohmann::json written(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double read_double(const nlohmann::json& json) {
  using Limits = std::numeric_limits<double>;
  if (json.is_null() || json == "nan") return Limits::quiet_NaN();
  if (json == "inf") return Limits::infinity();
  if (json == "-inf") return -Limits::infinity();
  return json.get<double>();
}

}  // namespace

inline void to_json(nlohmann::json& json, const BatchPosition& position) {
  json = {{"epoch", position.epoch},
          {"batch", position.batch},
          {"shard", position.shard},
          {"shard_begin", position.shard_begin}};
}
inline void from_json(const nlohmann::json& json, BatchPosition& position) {
  json.at("epoch").get_to(position.epoch);
  json.at("batch").get_to(position.batch);
  // Older versions had no shards.
  position.shard = json.value("shard", int64_t{0});
  position.shard_begin = json.value("shard_begin", int64_t{0});
}

inline void to_json(nlohmann::json& json, const EpochSums& sums) {
  json = {{"epoch", sums.epoch},
          {"loss", written(sums.loss)},
          {"label_loss", written(sums.label_loss)},
          {"target_tokens", sums.target_tokens}};
}
inline void from_json(const nlohmann::json& json, EpochSums& sums) {
  json.at("epoch").get_to(sums.epoch);
  sums.loss = read_double(json.at("loss"));
  sums.label_loss = read_double(json.at("label_loss"));
  json.at("target_tokens").get_to(sums.target_tokens);
}

inline void to_json(nlohmann::json& json, const ScoredUpdate& validation) {
  json = {{"update", validation.update}, {"score", written(validation.score)}};
}
inline void from_json(const nlohmann::json& json, ScoredUpdate& validation) {
  json.at("update").get_to(validation.update);
  validation.score = read_double(json.at("score"));
}

inline void to_json(nlohmann::json& json, const Plateau& plateau) {
  json = {{"factor", written(plateau.factor)}, {"validations", plateau.validations}};
}
inline void from_json(const nlohmann::json& json, Plateau& plateau) {
  plateau.factor = read_double(json.at("factor"));
  json.at("validations").get_to(plateau.validations);
}

// All of format 1 but the two doubles.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProgressState, update, position, target_tokens, epoch, validated_update, best_update,
                                   validations_since_best, averaged_update, skipped_updates, skipped_in_a_row, events,
                                   precision, device, kernels, cpu, torch_version, data_hash, threads)

void ProgressState::add_event(std::string event) {
  if (events.size() < kMostEvents)
    events.push_back(std::move(event));
  else
    ++later_events;
}

nlohmann::json ProgressState::to_json() const {
  nlohmann::json json = *this;
  json["format"] = kProgressFormat;
  json["seconds"] = written(seconds);
  json["best_score"] = written(best_score);
  json["best_due_score"] = written(best_due_score);
  json["extra_validation"] = extra_validation;
  json["best_validations"] = best_validations;
  json["extra_checkpoint"] = extra_checkpoint;
  json["plateau"] = plateau;
  json["later_events"] = later_events;
  return json;
}

ProgressState ProgressState::from_json(const nlohmann::json& json) {
  auto state = json.get<ProgressState>();
  state.seconds = read_double(json.at("seconds"));
  state.best_score = read_double(json.at("best_score"));
  // The first versions had none of these.
  if (json.contains("best_due_score"))
    state.best_due_score = read_double(json["best_due_score"]);
  else if (state.best_update >= 0)
    state.best_due_score = state.best_score;
  state.extra_validation = json.value("extra_validation", state.extra_validation);
  state.best_validations = json.value("best_validations", state.best_validations);
  state.extra_checkpoint = json.value("extra_checkpoint", state.extra_checkpoint);
  state.plateau = json.value("plateau", state.plateau);
  state.later_events = json.value("later_events", state.later_events);
  std::erase_if(state.best_validations, [](const auto& validation) { return !std::isfinite(validation.score); });
  for (; state.events.size() > kMostEvents; state.events.pop_back()) ++state.later_events;
  return state;
}

}  // namespace nmt
