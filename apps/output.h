#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/files/file.h"

namespace nmt {

/// Where translations go: a file that appears when it is complete, or standard output.
class Output {
 public:
  explicit Output(const std::string& path) {
    if (path != "-") file_ = std::make_unique<AtomicFile>(path);
  }
  /// False if the reader of standard output is gone or the disk behind it full; run_app() tells these apart.
  bool write(std::string_view text) {
    if (file_) {
      file_->write(text);
      return true;
    }
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

}  // namespace nmt
