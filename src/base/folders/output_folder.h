#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_lock.h"
#include "base/process/log.h"

namespace nmt {

/// Names of the files of a folder ("file" or "folder/file") that are deleted with it, because a program of ours has
/// made them; in the order in which they go, so a list of the others is the last.
using OwnFiles = std::function<std::vector<std::string>(const std::filesystem::path& folder)>;

/// A folder in the making. Files are written to path(), beside the place; commit() puts that folder in the place NAME,
/// which at every moment holds the old files or the new, never a mixture, on every file system. Then the old folder is
/// deleted, if it holds no other files than `own` names; otherwise it becomes NAME.kept-N as it is. Without commit()
/// nothing stays. What a killed program left (NAME.XXXXXX.partial) is finished or undone by the next one that writes
/// NAME. No other file or folder is touched.
class OutputFolder {
 public:
  /// Makes missing parent folders. Throws Error where the place is a file, a mount point, a link to nothing or closed
  /// to this user, and where another program is at work there; MachineError for what else the system refuses.
  OutputFolder(const std::filesystem::path& place, OwnFiles own);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  const std::filesystem::path& path() const { return made_; }  ///< where to write
  /// Why nothing keeps another program from writing the same folder meanwhile; empty where a lock does.
  const std::string& lock_problem() const { return lock_problem_; }
  /// The last call. The new folder gets the mode of the old one. Returns NAME.kept-N where the old folder is kept, an
  /// empty path elsewhere. Throws MachineError, with the old folder in place.
  std::filesystem::path commit();

 private:
  void put_in_place();

  std::filesystem::path place_, staging_, made_;
  OwnFiles own_;
  std::optional<FileLock> lock_;
  std::string lock_problem_;
};

/// Finishes or undoes what killed programs left of every OutputFolder in `folder`, for a caller who knows that no other
/// program writes there. Returns the folders that are kept. Throws MachineError.
std::vector<std::filesystem::path> recover_output_folders(const std::filesystem::path& folder, const OwnFiles& own);

/// Removes a folder in one step: what a kill leaves of it is never found under its name. One with other files than
/// `own` names is kept: returns as commit() does. Throws MachineError.
std::filesystem::path remove_folder(const std::filesystem::path& path, const OwnFiles& own);

/// Warns of a folder that is kept, where there is one: the path is not empty.
void warn_of_kept(const std::filesystem::path& kept, Logger& log);

/// The name of something in `folder` that is no regular file of one of these names ("file" or "folder/file"), nor a
/// folder of some; nullopt where there is none.
std::optional<std::string> foreign_entry(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// STEM-1, STEM-2, ...: the first name that nothing has.
std::filesystem::path next_free_name(const std::filesystem::path& stem);

}  // namespace nmt
