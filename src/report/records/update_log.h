#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/records/append_file.h"

namespace nmt {

/// What a line of an UpdateLog is about; lines stand in ascending order of updates.
struct UpdateLogKey {
  int64_t update = 0;
  std::string weights = "";  ///< see ValidationReport; empty where it plays no part
  bool operator==(const UpdateLogKey&) const = default;
};

/// A text file with a line for each event of a run, which a resumed run continues as if it had never stopped.
class UpdateLog {
 public:
  /// The key of a line (without its \n); nullopt for what is no line of this log, such as one half written.
  using KeyOf = std::function<std::optional<UpdateLogKey>(std::string_view line)>;

  /// Opens or makes the file. header: its first line, or empty for none. Throws Error if the file has another header.
  UpdateLog(std::filesystem::path path, std::string header, KeyOf key_of);

  /// Drops the lines of later updates and a last one without its end. A line that cannot be read stays or goes with the
  /// one before it. 0: only the header stays.
  void truncate_after(int64_t update);

  /// Adds a line (without \n). Where the last update has a line of the same key, it takes the place of that one and of
  /// those after it: the events are repeated because the run was killed between them and the next checkpoint. Throws
  /// MachineError.
  void append(const UpdateLogKey& key, std::string_view line);

 private:
  std::filesystem::path path_;
  std::string header_;
  KeyOf key_of_;
  std::optional<AppendFile> file_;
  struct Line {
    UpdateLogKey key;
    int64_t start;  ///< where it begins, in bytes
  };
  void remember(Line line);
  std::vector<Line> of_last_update_;
};

}  // namespace nmt
