#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "call.h"
#include "nmt/configuration.h"
#include "nmt/prepare.h"
#include "nmt/trainer.h"
#include "results.h"
#include "text_caster.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace nmt::python {

namespace {

nb::object prepare(const std::string& file, const std::vector<std::string>& settings, bool overwrite) {
  Call call;
  const PrepareOptions options{{file, settings}, overwrite, call.stop(), call.log()};
  return prepared_object(call.run([&] { return nmt::prepare(options); }));
}

/// A callback that calls the function of this name with what `convert` makes of the figures; empty where there is none.
/// The run ends, with its state saved, where the function returns False or raises something.
template <typename Figures, typename Convert>
std::function<void(const Figures&)> callback(Call& call, const nb::dict& functions, const char* name, Convert convert) {
  if (!functions.contains(name)) return {};
  const nb::handle function = functions[name];  // the dict keeps it
  return [&call, function, convert](const Figures& figures) {
    call.call_back([&] {
      if (!nb::cast<bool>(function(convert(figures)))) call.stop().request_stop();
    });
  };
}

nb::object train(const std::string& file, const std::vector<std::string>& settings, bool restart,
                 const nb::dict& functions) {
  Call call;
  TrainerOptions options{{file, settings}, restart, {}, call.stop(), call.log()};
  options.callbacks = {
      .on_start = callback<TrainingStart>(call, functions, "on_start", start_object),
      .on_update = callback<UpdateFigures>(call, functions, "on_update", update_object),
      .on_interval = callback<IntervalFigures>(call, functions, "on_interval", interval_object),
      .on_epoch = callback<EpochFigures>(call, functions, "on_epoch", epoch_object),
      .on_validation = callback<ValidationFigures>(call, functions, "on_validation", validation_object),
      .on_checkpoint = callback<std::int64_t>(call, functions, "on_checkpoint", [](std::int64_t at) { return at; })};
  return training_object(call.run([&] { return Trainer(std::move(options)).run(); }));
}

/// (run directory, all options as YAML): throws for what is wrong in the configuration.
nb::tuple check(const std::string& file, const std::vector<std::string>& settings) {
  const Trainer trainer({.configuration = {file, settings}});
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
