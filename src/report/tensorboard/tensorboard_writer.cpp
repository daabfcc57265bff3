#include "report/tensorboard/tensorboard_writer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <vector>

#include "base/files/file.h"
#include "report/tensorboard/tensorboard_record.h"

namespace nmt {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::vector<std::filesystem::path> event_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(directory)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(kPrefix)) files.push_back(entry.path());
  }
  return files;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "localhost";
  return name.data();
}

/// The order of the names is the order of reading: later than those of sessions a moment ago.
std::filesystem::path new_event_file(const std::filesystem::path& directory) {
  auto seconds = static_cast<int64_t>(seconds_since_1970());
  for (const auto& file : event_files(directory)) {
    const std::string name = file.filename().string();
    int64_t other = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), other);
    seconds = std::max(seconds, other + 1);
  }
  return directory / fmt::format("{}{:010}.{}", kPrefix, seconds, host_name());
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& directory) : file_(new_event_file(directory)) {
  write(encode_file_version(seconds_since_1970()));
}

void TensorBoardWriter::write(std::string_view event) { file_.write(frame_record(event)); }

void TensorBoardWriter::write_session_start(int64_t step) {
  write(encode_session_start({.wall_time = seconds_since_1970(), .step = step}));
}

void TensorBoardWriter::write_scalars(int64_t step, std::span<const ScalarSummary> scalars) {
  write(encode_scalars({.wall_time = seconds_since_1970(), .step = step}, scalars));
}

void TensorBoardWriter::write_text_table(int64_t step, std::string_view tag, const TextTable& table) {
  write(encode_text_table({.wall_time = seconds_since_1970(), .step = step}, tag, table));
}

void TensorBoardWriter::write_text(int64_t step, std::string_view tag, std::string_view markdown) {
  write(encode_text({.wall_time = seconds_since_1970(), .step = step}, tag, markdown));
}

void TensorBoardWriter::write_image(int64_t step, std::string_view tag, const Image& image) {
  write(encode_image({.wall_time = seconds_since_1970(), .step = step}, tag,
                     {.width = image.width, .height = image.height, .png = encode_png(image)}));
}

void TensorBoardWriter::write_histogram(int64_t step, const TensorHistogram& histogram) {
  write(encode_histogram({.wall_time = seconds_since_1970(), .step = step}, histogram));
}

void TensorBoardWriter::write_graph(int64_t step, std::string_view graph) {
  write(encode_graph({.wall_time = seconds_since_1970(), .step = step}, graph));
}

void truncate_event_files_after(const std::filesystem::path& directory, int64_t step) {
  for (const auto& path : event_files(directory)) {
    const std::string bytes = read_file(path);
    RecordReader reader(bytes);
    size_t kept = 0;
    int64_t records = 0;
    while (const auto event = reader.next()) {
      const auto of_event = step_of_event(*event);
      if (!of_event || *of_event > step) break;
      kept = reader.position();
      ++records;
    }
    if (records <= 1) {  // the version, which every file begins with
      std::filesystem::remove(path);
    } else if (kept < bytes.size()) {
      AppendFile(path).truncate(static_cast<int64_t>(kept));
    }
  }
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>#|~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace nmt
