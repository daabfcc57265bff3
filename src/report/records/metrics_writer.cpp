#include "report/records/metrics_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"
#include "base/process/log.h"
#include "report/pictures/attention_picture.h"
#include "report/records/run_records.h"

namespace nmt {
namespace {

FileDescriptor open_to_append(const std::filesystem::path& path) {
  std::error_code none;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), none);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

}  // namespace

AppendFile::AppendFile(std::filesystem::path path) : path_(std::move(path)), file_(open_to_append(path_)) {
  struct stat status;
  if (file_.number() < 0 || ::fstat(file_.number(), &status) != 0) fail(errno);
  size_ = status.st_size;
}

void AppendFile::write(std::string_view record) {
  size_t written = 0;
  while (written < record.size()) {
    const ssize_t count = ::write(file_.number(), record.data() + written, record.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int reason = count == 0 ? EIO : errno;
      if (::ftruncate(file_.number(), size_) != 0) fail(errno);
      fail(reason);
    }
    written += static_cast<size_t>(count);
  }
  size_ += static_cast<int64_t>(record.size());
}

void AppendFile::truncate(int64_t size) {
  if (::ftruncate(file_.number(), size) != 0) fail(errno);
  size_ = size;
}

void AppendFile::fail(int reason) const {
  throw MachineError(fmt::format("{}: cannot write ({})", path_.string(), system_message(reason)));
}

UpdateLog::UpdateLog(std::filesystem::path path, std::string header, KeyOf key_of)
    : path_(std::move(path)), header_(std::move(header)), key_of_(std::move(key_of)), file_(path_) {
  truncate_after(std::numeric_limits<int64_t>::max());
}

void UpdateLog::truncate_after(int64_t update) {
  const std::string text = read_file(path_);
  std::string kept;
  of_last_update_.clear();
  bool is_header = !header_.empty(), keeps = true;
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    const auto line = std::string_view(text).substr(start, end - start);
    if (is_header) {
      if (line != header_) {
        throw Error(fmt::format("{}:1: not the header that this version writes ({}); move the file away",
                                path_.string(), header_));
      }
      is_header = false;
    } else {
      auto key = key_of_(line);
      if (key) keeps = key->update <= update;
      if (!keeps) continue;
      if (key)
        remember({std::move(*key), static_cast<int64_t>(kept.size())});
      else
        of_last_update_.clear();  // it stays, whatever is repeated
    }
    kept.append(line).push_back('\n');
  }
  if (text.starts_with(kept)) {
    if (kept.size() < text.size()) file_->truncate(static_cast<int64_t>(kept.size()));
  } else {  // lines go that others follow
    write_file_atomically(path_, kept);
    file_.emplace(path_);
  }
  if (is_header) file_->write(header_ + "\n");
}

void UpdateLog::remember(Line line) {
  if (!of_last_update_.empty() && of_last_update_.front().key.update != line.key.update) of_last_update_.clear();
  of_last_update_.push_back(std::move(line));
}

void UpdateLog::append(const UpdateLogKey& key, std::string_view line) {
  auto& lines = of_last_update_;
  const auto again = std::find_if(lines.begin(), lines.end(), [&](const Line& before) { return before.key == key; });
  if (again != lines.end()) {
    file_->truncate(again->start);
    lines.erase(again, lines.end());
  }
  remember({key, file_->size()});
  file_->write(fmt::format("{}\n", line));
}

namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::optional<UpdateLogKey> key_of_metrics(std::string_view line) {
  const auto parsed = parse_interval_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->interval.update};
}

std::optional<UpdateLogKey> key_of_validation(std::string_view line) {
  const auto parsed = parse_validation_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->update, .weights = parsed->weights};
}

std::optional<UpdateLogKey> key_of_session(std::string_view line) {
  const auto parsed = parse_session_line(line);
  if (!parsed) return std::nullopt;
  return UpdateLogKey{.update = parsed->update};
}

/// Removes those files of validations from a folder that `unwanted` says so of.
template <typename Condition>
void remove_files(const std::filesystem::path& folder, Condition unwanted) {
  if (!std::filesystem::exists(folder)) return;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto update = update_of_file(entry.path());
    if (update && unwanted(entry.path(), *update)) found.push_back(entry.path());
  }
  for (const auto& file : found) std::filesystem::remove(file);
}

void write_beside_others(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, text);
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& run_directory, Facts environment,
                             std::vector<std::string> other_sets)
    : samples_(run_directory / "samples"),
      pictures_(run_directory / "attention"),
      translations_(run_directory / "translations"),
      validation_table_(run_directory / "validations.tsv"),
      environment_(std::move(environment)),
      other_sets_(std::move(other_sets)),
      metrics_(run_directory / "metrics.jsonl", "", key_of_metrics),
      validations_(validation_table_, std::string(kValidationHeader), key_of_validation),
      sessions_(run_directory / "sessions.jsonl", "", key_of_session) {}

void MetricsWriter::on_start(const TrainingStart& start) {
  truncate_after(start.update);
  session_ = {.update = start.update, .time = seconds_since_1970(), .environment = environment_};
  for (const auto& fact : Facts{{"device", start.device},
                                {"precision", start.precision},
                                {"threads", fmt::format("{}", start.threads)},
                                {"parameters", with_commas(start.parameters)}})
    session_.environment.push_back(fact);
  sessions_.append({.update = start.update}, format_session_line(session_));
}

void MetricsWriter::on_interval(const TrainingInterval& interval) {
  metrics_.append({.update = interval.update}, format_interval_line({interval, seconds_since_1970()}));
}

UpdateLog& MetricsWriter::log_of_set(const std::string& name) {
  const auto found = other_validations_.find(name);
  if (found != other_validations_.end()) return found->second;
  const auto path = validation_table_.parent_path() / other_validations_file(name);
  return other_validations_.try_emplace(name, path, std::string(kValidationHeader), key_of_validation).first->second;
}

void MetricsWriter::on_validation(const ValidationReport& report) {
  const auto add = [](UpdateLog& log, const ValidationReport& of_set) {
    const auto line = format_validation_line(of_set);
    log.append(*key_of_validation(line), line);
  };
  add(validations_, report);
  for (const auto& other : report.others) add(log_of_set(other.set), other);
  const auto stem = validation_stem(report);
  if (report.weights.empty()) last_ = stem;
  if (report.is_best) best_ = stem;
  write_attention(report, stem);
  write_texts(report, stem);
}

void MetricsWriter::write_texts(const ValidationReport& report, const std::string& stem) const {
  std::string samples;
  for (const auto& sample : report.samples) {
    samples += fmt::format("source: {}\nreference: {}\nhypothesis: {}\n\n", sample.source, sample.reference,
                           sample.hypothesis);
  }
  if (!samples.empty()) write_beside_others(samples_ / (stem + ".txt"), samples);
  if (report.hypotheses.empty() || (stem != best_ && stem != last_)) return;
  std::string translations;
  for (size_t i = 0; i < report.hypotheses.size(); ++i)
    translations += format_translation_line({report.sources[i], report.references[i], report.hypotheses[i]}) + "\n";
  write_beside_others(translations_ / (stem + ".tsv"), translations);
}

void MetricsWriter::write_attention(const ValidationReport& report, const std::string& stem) const {
  if (report.attention.empty()) return;
  if (const auto* grid = last_cross_attention(report.attention.front()))
    write_beside_others(pictures_ / (stem + ".svg"), attention_svg(*grid));
  if (stem != best_ && stem != last_) return;
  auto sentences = nlohmann::ordered_json::array();
  for (const auto& layers : report.attention) sentences.push_back(attention_json(cross_attention(layers)));
  nlohmann::ordered_json json = {{"sentences", std::move(sentences)}};
  if (!report.attention_lines.empty()) json["lines"] = report.attention_lines;
  write_beside_others(pictures_ / (stem + ".json"),
                      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Until a checkpoint stands, a run that is killed goes back to the one before, whose best and last are still there.
void MetricsWriter::on_checkpoint(int64_t) {
  const auto is_old = [&](const std::filesystem::path& path, int64_t) {
    return path.stem() != best_ && path.stem() != last_;
  };
  remove_files(translations_, is_old);
  remove_files(pictures_, [&](const std::filesystem::path& path, int64_t update) {
    return path.extension() == ".json" && is_old(path, update);
  });
}

void MetricsWriter::on_end(const std::string& reason) {
  session_.end_time = seconds_since_1970();
  session_.end = reason;
  sessions_.append({.update = session_.update}, format_session_line(session_));
}

void MetricsWriter::truncate_after(int64_t update) {
  metrics_.truncate_after(update);
  validations_.truncate_after(update);
  for (const auto& name : other_sets_) log_of_set(name).truncate_after(update);
  sessions_.truncate_after(update);
  for (const auto& folder : {samples_, pictures_, translations_})
    remove_files(folder, [update](const std::filesystem::path&, int64_t of_file) { return of_file > update; });
  best_.clear(), last_.clear();
  std::istringstream table(read_file(validation_table_));
  for (std::string line; std::getline(table, line);) {
    const auto report = parse_validation_line(line);
    if (!report) continue;  // the header
    if (report->weights.empty()) last_ = validation_stem(*report);
    if (report->is_best) best_ = validation_stem(*report);
  }
}

}  // namespace nmt
