#pragma once

#include <filesystem>

#include "base/files/file_descriptor.h"

namespace nmt {

/// A folder in the making: files go to NAME.partial beside it; commit() puts it in the place of NAME in one step, so
/// that NAME holds the old files or the new, never a mixture. Without commit() nothing of it stays. What a killed
/// program left behind is removed by the next one.
class OutputFolder {
 public:
  /// Makes missing parent folders. Throws Error: the place is a file, cannot be written to, or another program is at
  /// work there; MachineError for what else the system refuses.
  explicit OutputFolder(const std::filesystem::path& final_path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  const std::filesystem::path& path() const { return partial_; }  ///< where to write
  void commit();                                                  ///< the last call; throws MachineError

 private:
  std::filesystem::path final_, partial_;
  FileDescriptor lock_;  // on the folder itself
  bool committed_ = false;
};

}  // namespace nmt
