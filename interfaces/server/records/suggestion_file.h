#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/files/file.h"

namespace nmt {

/// A better translation, from a client.
struct Suggestion {
  std::string source_text, translation;
  std::string source, target;  ///< codes of the languages
};

/// Where better translations are collected: a JSON object a line, {"q", "s", "source", "target", "time"}, the time in
/// seconds since 1970. Any number of threads may call it.
class SuggestionFile {
 public:
  /// Adds to the file; makes it where there is none. No path: no suggestion is taken. Throws Error where it cannot be
  /// written.
  explicit SuggestionFile(const std::string& path);

  bool is_open() const { return !path_.empty(); }
  /// Throws RequestError 403 without a file, 507 once the file has a gigabyte; Error where the disk is full: then the
  /// file is as it was.
  void add(const Suggestion& suggestion);

 private:
  const std::string path_;
  std::mutex mutex_;
};

}  // namespace nmt
