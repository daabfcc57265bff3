#include "report/records/update_log.h"

#include <fmt/format.h>

#include <limits>

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
  last_.reset();
  last_start_ = 0;
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
      last_ = std::move(key);
      last_start_ = static_cast<int64_t>(kept.size());
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

void UpdateLog::append(const UpdateLogKey& key, std::string_view line) {
  if (last_ == key) file_->truncate(last_start_);
  last_ = key;
  last_start_ = file_->size();
  file_->write(fmt::format("{}\n", line));
}

}  // namespace nmt
