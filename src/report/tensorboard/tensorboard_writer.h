#pragma once

#include <filesystem>

#include "report/pictures/png.h"
#include "report/records/append_file.h"
#include "report/tensorboard/tensorboard_event.h"

namespace nmt {

/// Writes one event file, events.out.tfevents.SECONDS.HOST, flushed after every event. Throws MachineError.
class TensorBoardWriter {
 public:
  /// Makes a new file in the folder, named so that TensorBoard reads it after those that stand there.
  explicit TensorBoardWriter(const std::filesystem::path& directory);

  void write_session_start(int64_t step);
  void write_scalars(int64_t step, std::span<const ScalarSummary> scalars);
  void write_text_table(int64_t step, std::string_view tag, const TextTable& table);
  void write_text(int64_t step, std::string_view tag, std::string_view markdown);
  void write_image(int64_t step, std::string_view tag, const Image& image);
  /// graph: an encoded GraphDef.
  void write_graph(int64_t step, std::string_view graph);
  void write_histogram(int64_t step, const TensorHistogram& histogram);

 private:
  void write(std::string_view event);
  AppendFile file_;
};

/// Cuts the event files of a folder back to the events up to a step, and what a kill left half written. A file without
/// any of them is removed. Throws Error or MachineError for what cannot be read or written.
void truncate_event_files_after(const std::filesystem::path& directory, int64_t step);

/// The text so that Markdown shows it as it stands.
std::string escape_markdown(std::string_view text);

}  // namespace nmt
