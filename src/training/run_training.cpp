#include "training/run_training.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process/program_description.h"
#include "base/process/user_files.h"
#include "data/prepared_data.h"
#include "models/interface/model_initial_values.h"
#include "models/model_directory.h"
#include "models/search/hypothesis_attention.h"
#include "nn/device/device.h"
#include "nn/kernels/kernels.h"
#include "report/run_observers.h"
#include "training/fine_tuning.h"
#include "training/teacher.h"
#include "training/trainer.h"
#include "training/update_profiler.h"
#include "training/validation.h"
#include "translation/translator.h"

namespace nmt {
namespace {

Facts environment(const TrainingRun& run) {
  Facts facts = {{"toolkit", version()}, {"processes", std::to_string(run.group.size())}, {"LibTorch", TORCH_VERSION}};
  facts.insert(facts.end(), run.versions.begin(), run.versions.end());
  facts.insert(facts.end(),
               {{"processor", cpu_name()}, {"instruction sets", cpu_features()}, {"kernels", kernels::kernels().name}});
  return facts;
}

void check_that_all_are_alike(ProcessGroup& group, const Config& config, const PreparedData& data,
                              torch::Device device) {
  const auto own = fmt::format("{}\n{}\n{}", to_yaml(config, YamlComments::kNone), data.hash,
                               precision_name(resolve_precision(config.run.precision, device)));
  const bool is_alike = group.share(own) == own;
  double others = is_alike ? 0 : 1;
  group.sum({&others, 1});
  if (others == 0) return;  // else all end here, before anything is made
  throw Error(fmt::format(
      "{} other options, other prepared data or another precision than rank 0: start all processes with the same "
      "command, on a file system that all of them see (run.precision says auto where machines differ)",
      is_alike ? fmt::format("{} of {} processes have", others, group.size())
               : fmt::format("rank {} has", group.rank())));
}

std::vector<std::string> names_of_others(const PreparedData& data) {
  std::vector<std::string> names;
  for (const auto& set : data.more_valid) names.push_back(set.name);
  return names;
}

bool restarts(const TrainingRun& run) { return run.start == RunDirectory::Start::kRestart; }

/// Whether it has a checkpoint, with all that a new run reads from other files.
bool resumes(const TrainingRun& run) {
  return !restarts(run) && !checkpoints_in(std::filesystem::path(run.loaded.config.run.dir) / "checkpoints").empty();
}

/// Where a run begins: what would be refused only after its folder was made, or after an old run was set aside. Where
/// it resumes: the layer and the head of its alignments, which may have been changed.
void check_beginning(const TrainingRun& run, const PreparedData& data) {
  const Config& config = run.loaded.config;
  const bool names_alignment = config.decoding.alignment_layer > 0 || config.decoding.alignment_head > 0;
  if (resumes(run) && !names_alignment) return;
  const auto model = make_model(config.model, data.codec.source().size(), data.codec.target().size());
  if (names_alignment) {
    const c10::NoGradGuard no_gradients;
    model->eval();
    has_alignment({.model = model.get(), .source_form = data.codec.options().source_form()},
                  translator_options(config).search);
    model->train();
  }
  if (resumes(run)) return;
  const auto& from = config.training.init_from;
  for (const auto& [option, folder] :
       {std::pair("training.init_from", from), std::pair("training.teacher", config.training.teacher)})
    if (restarts(run) && !folder.empty() && lies_in(folder, config.run.dir))
      throw Error(fmt::format("{}: {} lies in run.dir {}, which --restart sets aside; name another --run-dir", option,
                              folder, config.run.dir));
  if (!from.empty()) load_initial_weights(*model, config.model, data.codec, from, config.training.init_vocabulary);
  load_teacher(config.training, data.codec, torch::kCPU);
  freeze(*model, config.training);
  if (data.valid) Validator(data.valid, data.codec, config, run.device, data.more_valid).require_places(*model);
}

}  // namespace

TrainingOutcome run_training(TrainingRun run, Logger& log) {
  const Config& config = run.loaded.config;
  ProcessGroup& group = run.group;
  at::set_num_threads(config.run.threads > 0 ? static_cast<int>(config.run.threads) : default_threads_of(group));
  const PreparedData data = open_prepared_data(config);
  for (const auto& line : data.selection.summary) log.info("{}", line);
  if (group.size() > 1) {
    check_that_all_are_alike(group, config, data, run.device);
    log.info("{} processes of {}, {} threads each", group.size(), run.process.launcher, at::get_num_threads());
  }
  const auto embeddings =
      resumes(run) ? std::vector<InitialEmbedding>() : read_initial_embeddings(config.model, data.codec, log);
  const bool saves_epochs =
      std::ranges::any_of(run.observers, [](const auto& observer) { return observer->needs_epoch_checkpoints(); });
  TrainingObservers observers;
  const auto train = [&](RunDirectory* directory) {
    Trainer trainer(config, data, embeddings, run.device, group, directory, observers, log, run.stop_signal,
                    saves_epochs);
    const int exit_code = trainer.run();
    return TrainingOutcome{exit_code, trainer.progress()};
  };
  if (!group.leads()) return train(nullptr);

  check_beginning(run, data);
  RunDirectory directory(config, run.start, log);
  add_log_file(log, directory.path() / "log.txt");
  if (config.run.precision == TrainingPrecision::kBf16 && !capabilities_of(run.device).bfloat16)
    log.warn(
        "run.precision: bf16: this processor multiplies float32 at least as fast, fp32 trains faster; auto takes what "
        "fits");
  observers.add(make_run_observers(
      {.directory = directory.path(),
       .tensorboard = config.run.tensorboard,
       .tensorboard_tags = config.run.tensorboard_tags,
       .tensorboard_curves = config.run.tensorboard_every > 0 ? CurveIntervals::kOwn : CurveIntervals::kOfLog,
       .environment = environment(run),
       .other_validation_sets = names_of_others(data)},
      log));
  if (run.profile)
    observers.add(std::make_unique<UpdateProfiler>(*run.profile, directory.path() / "profile.json", log));
  for (auto& observer : run.observers) observers.add(std::move(observer));
  return train(&directory);
}

}  // namespace nmt
