#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "log.h"
#include "nmt/configuration.h"
#include "nmt/prepare.h"
#include "nmt/trainer.h"
#include "results.h"
#include "values.h"
#include "work.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace nmt::python {

namespace {

nb::object prepare(const std::string& file, const std::vector<std::string>& settings, bool overwrite) {
  Work work;
  PrepareOptions options;
  options.configuration = {file, settings};
  options.overwrite = overwrite;
  options.stop = work.stop();
  options.log = log_to_python(work);
  return prepared_object(work.run([&] { return nmt::prepare(options); }));
}

/// False, also NumPy's; None, 0 and the like are no answer.
bool is_false(nb::handle answer) { return is_truth(answer) && PyObject_IsTrue(answer.ptr()) == 0; }

/// Set in this thread: such a callback that began another training would wait for itself.
thread_local bool is_in_training_callback = false;
struct InTrainingCallback {
  InTrainingCallback() { is_in_training_callback = true; }
  ~InTrainingCallback() { is_in_training_callback = false; }
};

/// A callback that calls the function of this name with what `convert` makes of the figures, in the thread of the work;
/// empty where there is none. False ends the run, and so does what it raises: the run's state is saved first.
template <typename Figures, typename Convert>
std::function<void(const Figures&)> callback(Work& work, const nb::dict& functions, const char* name, Convert convert) {
  if (!functions.contains(name) || functions[name].is_none()) return {};
  const nb::handle function = functions[name];  // the dict keeps it
  return [&work, function, convert](const Figures& figures) {
    work.call([&] {
      const InTrainingCallback here;
      const nb::object answer = function(convert(figures));
      if (is_false(answer)) work.stop().request_stop();
    });
  };
}

nb::object train(const std::string& file, const std::vector<std::string>& settings, bool restart,
                 const nb::dict& functions) {
  if (is_in_training_callback)
    throw UserError(
        "a training was begun in a callback of another one, which waits for it; begin it when that one has ended");
  Work work;
  TrainerOptions options;
  options.configuration = {file, settings};
  options.restart = restart;
  options.stop = work.stop();
  options.log = log_to_python(work);
  TrainingCallbacks& callbacks = options.callbacks;
  callbacks.on_start = callback<TrainingStart>(work, functions, "on_start", start_object);
  callbacks.on_update = callback<UpdateFigures>(work, functions, "on_update", update_object);
  callbacks.on_interval = callback<IntervalFigures>(work, functions, "on_interval", interval_object);
  callbacks.on_epoch = callback<EpochFigures>(work, functions, "on_epoch", epoch_object);
  callbacks.on_validation = callback<ValidationFigures>(work, functions, "on_validation", validation_object);
  callbacks.on_checkpoint =
      callback<std::int64_t>(work, functions, "on_checkpoint", [](std::int64_t update) { return update; });
  return training_object(work.run([&] { return Trainer(std::move(options)).run(); }));
}

/// (run directory, all options as YAML): throws for what is wrong in the configuration.
nb::tuple check(const std::string& file, const std::vector<std::string>& settings) {
  TrainerOptions options;
  options.configuration = {file, settings};
  const Trainer trainer(std::move(options));
  return nb::make_tuple(trainer.run_directory(), trainer.configuration());
}

}  // namespace

void bind_training(nb::module_& module) {
  module.def("prepare", &prepare, "file"_a, "settings"_a, "overwrite"_a);
  module.def("train", &train, "file"_a, "settings"_a, "restart"_a, "callbacks"_a);
  module.def(
      "effective_configuration",
      [](const std::string& file, const std::vector<std::string>& settings) {
        return effective_configuration({file, settings});
      },
      "file"_a, "settings"_a);
  module.def("check_training", &check, "file"_a, "settings"_a);
}

}  // namespace nmt::python
