#include "nmt/prepare.h"

#include <utility>

#include "base/process/log.h"
#include "compat/prepared_files.h"
#include "data/preparation/preprocess.h"
#include "library/inner/conversions.h"
#include "library/inner/guard.h"
#include "nmt/configuration.h"

namespace nmt::api {

std::string effective_configuration(const Configuration& configuration) {
  return guarded([&] { return to_yaml(loaded(configuration).config, YamlComments::kHelp); });
}

PrepareResult prepare(const PrepareOptions& options) {
  return guarded([&]() -> PrepareResult {
    const nmt::NoProgressBars no_bars;
    const auto configuration = loaded(options.configuration);
    const auto log = logger_to(options.log);
    for (const auto& notice : configuration.notices) log->info("{}", notice);
    const auto observer = compat::make_prepared_files(configuration.config.data);
    auto prepared = nmt::prepare_data(configuration.config,
                                      {.overwrite = options.overwrite ? Overwrite::kReplace : Overwrite::kRefuse,
                                       .config_files = configuration.files,
                                       .should_stop = [stop = options.stop] { return stop.stop_requested(); },
                                       .observer = observer.get()},
                                      *log);
    if (prepared.outcome == PrepareOutcome::kStopped) throw Stopped("the preparation was stopped; nothing was written");
    return {configuration.config.data.dir, prepared.outcome == PrepareOutcome::kUpToDate, std::move(prepared.table)};
  });
}

}  // namespace nmt::api
