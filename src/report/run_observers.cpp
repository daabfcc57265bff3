#include "report/run_observers.h"

#include "report/console_observer.h"
#include "report/html/html_report.h"
#include "report/records/metrics_writer.h"

namespace nmt {

std::unique_ptr<TrainingObserver> make_run_observers(const RunObserverOptions& options, Logger& log) {
  auto observers = std::make_unique<TrainingObservers>();
  observers->add(
      std::make_unique<MetricsWriter>(options.directory, options.environment, options.other_validation_sets));
  if (options.tensorboard)
    observers->add(std::make_unique<TensorBoardObserver>(options.directory / "tensorboard", options.tensorboard_tags,
                                                         options.tensorboard_curves));
  observers->add(std::make_unique<ConsoleObserver>(log));
  observers->add(std::make_unique<ReportObserver>(options.directory, log));  // reads what the others wrote
  return observers;
}

}  // namespace nmt
