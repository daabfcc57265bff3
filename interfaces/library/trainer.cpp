#include "nmt/trainer.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "config/loading/model_description.h"
#include "library/inner/conversions.h"
#include "library/inner/guard.h"
#include "library/training/train_with_torch.h"
#include "translation/torch_library.h"

extern "C" void nmt_train_with_torch(const nmt::api::TrainingJob&, nmt::api::TrainedRun&) __attribute__((weak));

namespace nmt::api {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

/// The one run at a time of this process. Not a mutex: its own thread may ask, in a callback.
class Turns {
 public:
  /// Waits for the end of another run; false where `stop` comes before that. Throws Error where no wait would end.
  bool take(const StopToken& stop) {
    std::unique_lock lock(mutex_);
    while (is_taken_) {
      if (thread_ == std::this_thread::get_id())
        throw nmt::Error(
            "a training was begun in a callback of another one, which waits for it; begin it when that one has ended");
      if (stop.stop_requested()) return false;
      ended_.wait_for(lock, kBetweenLooks);
    }
    is_taken_ = true;
    thread_ = std::this_thread::get_id();
    return true;
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    is_taken_ = false;
    ended_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_taken_ = false;
  std::thread::id thread_;
};

Turns& turns() {
  static Turns* const all = new Turns;  // never destroyed: a thread may train when main() has ended
  return *all;
}

/// The turn of a run, until its end.
class Turn {
 public:
  explicit Turn(const StopToken& stop) : is_taken_(turns().take(stop)) {}
  ~Turn() {
    if (is_taken_) turns().give_back();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  bool is_taken_;
};

/// The figure in "BLEU|nrefs:1|... = 40.40 ...".
std::optional<double> figure_in(const std::string& text) {
  const size_t at = text.find(" = ");
  if (at == std::string::npos) return std::nullopt;
  double figure = 0;
  std::from_chars(text.data() + at + 3, text.data() + text.size(), figure);  // in no locale
  return figure;
}

/// What model.json says of the validation of the best weights: of a session before this one.
ValidationFigures figures_of(const std::filesystem::path& model) {
  const auto summary = read_model_description(model).summary;
  ValidationFigures figures;
  figures.is_best = true;
  figures.update = summary.value("update", int64_t{0});
  const auto weights = summary.value("weights", std::string());
  if (weights != fmt::format("update {}", figures.update)) figures.weights = weights;
  const auto validation = summary.value("validation", nlohmann::json::object());
  const auto number = [&](const char* name) {
    const auto found = validation.find(name);
    return found != validation.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  figures.loss = number("loss");
  figures.perplexity = number("perplexity");
  figures.accuracy = number("accuracy");
  figures.bleu_text = validation.value("bleu", std::string());
  figures.chrf_text = validation.value("chrf", std::string());
  figures.bleu = figure_in(figures.bleu_text);
  figures.chrf = figure_in(figures.chrf_text);
  return figures;
}

}  // namespace

class NMT_NOT_EXPORTED Trainer::State {
 public:
  explicit State(TrainerOptions options)
      : options_(std::move(options)), configuration_(loaded(options_.configuration)) {}

  TrainingResult run() {
    const Turn turn(options_.stop);
    if (!turn.is_taken()) return stopped_before();
    threads_of_call(static_cast<int>(configuration_.config.run.threads));
    const auto train = torch_function(&nmt_train_with_torch, "nmt_train_with_torch");
    const auto log = logger_to(options_.log);
    for (const auto& notice : configuration_.notices) log->info("{}", notice);
    TrainedRun trained;
    train({.configuration = configuration_,
           .callbacks = options_.callbacks,
           .stop = options_.stop,
           .restart = restart_,
           .log = *log},
          trained);
    TrainingResult result;
    result.run_directory = run_directory();
    result.stopped = trained.stopped;
    result.reason = result.stopped ? "stopped; the state is saved: a new run resumes" : std::move(trained.reason);
    result.updates = trained.updates;
    const auto best = std::filesystem::path(run_directory()) / "best";
    if (!std::filesystem::exists(best / "model.json")) return result;
    result.best_model = best.string();
    if (trained.best)
      result.best = std::move(trained.best);
    else if (trained.has_best)
      result.best = figures_of(best);
    return result;
  }

  void request_stop() const { options_.stop.request_stop(); }
  TrainingResult stopped_before() const {
    TrainingResult result;
    result.run_directory = run_directory();
    result.stopped = true;
    result.reason = "stopped before it began";
    return result;
  }
  const std::string& run_directory() const { return configuration_.config.run.dir; }
  const nmt::Config& config() const { return configuration_.config; }

 private:
  const TrainerOptions options_;
  const nmt::LoadedConfig configuration_;
  bool restart_ = options_.restart;  // once
};

Trainer::Trainer(TrainerOptions options) {
  guarded([&] { state_ = std::make_shared<State>(std::move(options)); });
}

TrainingResult Trainer::run() {
  return guarded([&] {
    const auto kept = state_;  // the trainer may be destroyed meanwhile
    return kept->run();
  });
}

void Trainer::request_stop() const noexcept { state_->request_stop(); }
std::string Trainer::run_directory() const { return state_->run_directory(); }
std::string Trainer::configuration() const {
  return guarded([&] { return to_yaml(state_->config(), YamlComments::kHelp); });
}

}  // namespace nmt::api
