#include "report/records/update_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {

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

}  // namespace nmt
