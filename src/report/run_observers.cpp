#include "report/run_observers.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/unicode.h"
#include "report/html/html_report.h"
#include "report/records/metrics_writer.h"

namespace nmt {
namespace {

std::vector<spdlog::sink_ptr> sinks_besides_the_screen(const Logger& log) {
  std::vector<spdlog::sink_ptr> sinks = log.sinks();
  std::erase_if(sinks, [](const auto& sink) {
    return std::dynamic_pointer_cast<spdlog::sinks::stderr_sink_mt>(sink) != nullptr;
  });
  return sinks;
}

std::string run_name(const std::string& directory) {
  const std::filesystem::path path(directory);
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string whole(double number) { return with_commas(std::llround(number)); }

}  // namespace

ConsoleObserver::ConsoleObserver(Logger& log, Clock clock)
    : log_(log), files_(log.name()), clock_(clock), pulse_(std::move(clock)) {
  files_.sinks() = sinks_besides_the_screen(log);
  files_.set_level(log.level());
  files_.flush_on(spdlog::level::trace);
}

void ConsoleObserver::tell(const std::string& line) {
  if (bar_) bar_->clear();
  log_.info("{}", line);
  begin_silence();
}

void ConsoleObserver::tell_without_bar(const std::string& line) {
  (bar_ && bar_->on_terminal() ? files_ : log_).info("{}", line);
  begin_silence();
}

void ConsoleObserver::begin_silence() {
  pulse_.said();
  since_ = clock_();
  updates_ = target_tokens_ = 0;
}

void ConsoleObserver::on_start(const TrainingStart& start) {
  tell(format_start(start));
  if (start.update > 0) tell(fmt::format("resuming after update {}", with_commas(start.update)));
  expected_ = expected_updates(start);
  begins_ = true;
  bar_.emplace("train", expected_, "updates");
}

void ConsoleObserver::on_update(const UpdateReport& report) {
  if (bar_) bar_->update(report.update, note_.empty() ? fmt::format("epoch {}", report.epoch) : note_);
  ++updates_, target_tokens_ += report.target_tokens;
  const double seconds = clock_() - since_;
  if (std::exchange(begins_, false)) {
    tell_without_bar(format_update(report, -1, -1));
  } else if (pulse_.is_due()) {
    const auto left = static_cast<double>(expected_ - report.update) / static_cast<double>(updates_) * seconds;
    tell_without_bar(format_update(report, static_cast<double>(target_tokens_) / seconds, expected_ > 0 ? left : -1));
  }
}

void ConsoleObserver::on_interval(const TrainingInterval& interval) {
  note_ = format_bar_note(interval);
  tell_without_bar(format_interval(interval));
}

void ConsoleObserver::on_epoch(const EpochReport& report) {
  tell(fmt::format("epoch {} is done: loss {:.3f} ppl {:.2f}", report.epoch, report.loss, report.perplexity));
}

void ConsoleObserver::on_validation(const ValidationReport& report) {
  for (const auto& line : format_validation(report)) tell(line);
}

void ConsoleObserver::on_checkpoint(int64_t update) {
  tell(fmt::format("checkpoint of update {} is saved", with_commas(update)));
}

void ConsoleObserver::on_end(const std::string& reason) {
  tell("end: " + reason);
  bar_.reset();
}

int64_t expected_updates(const TrainingStart& start) {
  const int64_t by_epochs = start.num_epochs * start.updates_per_epoch;
  if (start.max_updates == 0 || by_epochs == 0) return std::max(start.max_updates, by_epochs);
  return std::min(start.max_updates, by_epochs);
}

std::string format_start(const TrainingStart& start) {
  std::string until;
  if (start.num_epochs > 0) until = fmt::format("{} epochs, ", start.num_epochs);
  if (start.max_updates > 0) until += fmt::format("at most {} updates, ", with_commas(start.max_updates));
  return fmt::format("run {}: {} parameters; {}, {}, {} threads; {}about {} updates an epoch", run_name(start.name),
                     with_commas(start.parameters), start.device, start.precision, start.threads, until,
                     with_commas(start.updates_per_epoch));
}

std::string format_interval(const TrainingInterval& i) {
  std::string line = fmt::format(
      "epoch {} update {}: loss {:.3f} ppl {:.2f} accuracy {} lr {:.3e} gradient {:.2f} source {} tok/s target {} "
      "tok/s "
      "real {}",
      i.epoch, with_commas(i.update), i.loss, i.perplexity, percent(i.accuracy), i.learning_rate, i.gradient_norm,
      whole(i.source_tokens_per_second), whole(i.target_tokens_per_second), percent(i.real_token_share));
  if (i.skipped_updates > 0) line += fmt::format(" skipped {}", with_commas(i.skipped_updates));
  if (i.seconds_left >= 0) line += fmt::format(" left {}", format_duration(i.seconds_left));
  return line;
}

std::string format_update(const UpdateReport& update, double target_tokens_per_second, double seconds_left) {
  std::string line = fmt::format("epoch {} update {}: loss {:.3f} ppl {:.2f} lr {:.3e}", update.epoch,
                                 with_commas(update.update), update.loss, update.perplexity, update.learning_rate);
  if (target_tokens_per_second >= 0) line += fmt::format(" target {} tok/s", whole(target_tokens_per_second));
  if (seconds_left >= 0) line += fmt::format(" left {}", format_duration(seconds_left));
  return line;
}

std::string format_bar_note(const TrainingInterval& i) {
  return fmt::format("epoch {} loss {:.3f} ppl {:.2f} lr {:.1e} src {} tgt {} tok/s real {:.0f}%", i.epoch, i.loss,
                     i.perplexity, i.learning_rate, whole(i.source_tokens_per_second),
                     whole(i.target_tokens_per_second), 100 * i.real_token_share);
}

std::vector<std::string> format_validation(const ValidationReport& r) {
  const auto when = r.update == 0 ? "before the first update" : "at update " + with_commas(r.update);
  std::string line =
      fmt::format("validation {}{}: loss {:.3f} ppl {:.2f} accuracy {}", when,
                  r.set.empty() ? "" : fmt::format(" on {}", r.set), r.loss, r.perplexity, percent(r.accuracy));
  if (r.has_bleu) line += fmt::format(" BLEU {:.2f}", r.bleu);
  if (r.has_chrf) line += fmt::format(" chrF {:.2f}", r.chrf);
  if (!r.weights.empty()) line += fmt::format(", {}", r.weights);
  line += fmt::format(" in {:.1f} s{}", r.seconds, r.is_best ? " * new best" : "");
  std::vector<std::string> lines = {line};
  if (r.too_long > 0)
    lines.push_back(
        fmt::format("  the loss is without {} pairs that are too long for the model", with_commas(r.too_long)));
  if (r.has_bleu) lines.push_back("  " + r.bleu_line);
  if (r.has_chrf) lines.push_back("  " + r.chrf_line);
  for (const auto& other : r.others)
    for (auto& of_other : format_validation(other)) lines.push_back(std::move(of_other));
  for (const auto& sample : r.samples) {
    lines.push_back("  source     " + printable(sample.source));
    lines.push_back("  reference  " + printable(sample.reference));
    lines.push_back("  hypothesis " + printable(sample.hypothesis));
  }
  return lines;
}

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
