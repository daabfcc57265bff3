#pragma once

#include <fmt/format.h>

#include <memory>

#include "base/process/log.h"
#include "config/config.h"
#include "data/preparation/prepare_observer.h"
#include "report/records/evaluation_observer.h"
#include "report/records/training_observer.h"
#ifdef NMT_WITH_COMPAT
#include "compat/prepared_files.h"
#include "compat/result_files.h"
#include "compat/training/run_names.h"
#else
#include "base/error.h"
#endif

// The observer that writes files under the names of another program, where a configuration asks for them (data.naming,
// run.naming); else null. A build without them (interfaces/compat) refuses such a configuration with an Error.

namespace nmt {

#ifdef NMT_WITH_COMPAT

inline std::unique_ptr<PrepareObserver> prepare_observer(const DataConfig& data) {
  return compat::make_prepared_files(data);
}
inline std::unique_ptr<TrainingObserver> training_observer(const Config& config) {
  return compat::make_run_names(config);
}
inline std::unique_ptr<EvaluationObserver> evaluation_observer(const Config& config, Logger& log) {
  return compat::make_result_files(config, log);
}

#else

template <typename Naming>
std::nullptr_t require_plain(const char* option, const Choice<Naming>& naming) {
  if (naming == Naming::kPlain) return nullptr;
  throw Error(fmt::format("{} {}: names of other programs are not in this build (NMT_WITH_COMPAT); set {} plain",
                          option, naming.name(), option));
}
inline std::unique_ptr<PrepareObserver> prepare_observer(const DataConfig& data) {
  return require_plain("data.naming", data.naming);
}
inline std::unique_ptr<TrainingObserver> training_observer(const Config& config) {
  return require_plain("run.naming", config.run.naming);
}
inline std::unique_ptr<EvaluationObserver> evaluation_observer(const Config& config, Logger&) {
  return require_plain("run.naming", config.run.naming);
}

#endif

}  // namespace nmt
