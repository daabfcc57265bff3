#pragma once

#include <functional>

#include "base/files/strict_json.h"
#include "nmt/scorer.h"
#include "nmt/trainer.h"
#include "nmt/translator.h"

namespace nmt::api {

using Json = nlohmann::ordered_json;

/// Answers of nmt.h, which says what stands in them.
Json to_json(const Alternative& alternative, const TranslateOptions& options);
Json to_json(const Translation& translation, const TranslateOptions& options);
Json to_json(const Score& score);
Json to_json(const ValidationFigures& figures);

/// Callbacks that tell each event of a training as JSON: {"event": "update", ...}.
TrainingCallbacks callbacks_to(const std::function<void(const Json&)>& tell);

}  // namespace nmt::api
