#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files/file_lock.h"

namespace nmt {

/// Of the folder that stands in the place at the end: the name of something in it that may not be lost; nullopt: all of
/// it may be replaced.
using FindLoss = std::function<std::optional<std::string>(const std::filesystem::path& folder)>;

/// A folder in the making: NAME.XXXXXX.partial beside NAME, made for this object, holds it; commit() puts it in the
/// place of NAME, so that NAME holds the old files or the new, never a mixture, on every file system. Without commit()
/// nothing of it stays. What a killed program left is finished, undone or removed by the next one that writes NAME; a
/// folder that this class did not make is never touched.
class OutputFolder {
 public:
  /// Makes missing parent folders. Without find_loss commit() replaces any folder. Throws Error: the place is a file, a
  /// mount point or a link to nothing, cannot be written to, or another program is at work there; MachineError for what
  /// else the system refuses.
  explicit OutputFolder(const std::filesystem::path& final_path, FindLoss find_loss = {});
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  const std::filesystem::path& path() const { return made_; }  ///< where to write
  /// Why nothing keeps another program from writing the same folder meanwhile; empty where a lock does.
  const std::string& lock_problem() const { return lock_problem_; }
  /// The last call. A folder that is replaced hands its mode on. Throws, with the old folder in place: Error for a
  /// folder of which find_loss names something, or a file that came there; MachineError.
  void commit();
  /// The same for a folder that others may use, too: of what stands there only files of these names (`own`) go, all
  /// else is in the new folder then, or stays in NAME.kept-N (hand_over). Returns the path of the latter, or an empty
  /// one.
  std::filesystem::path commit_among_others(const std::set<std::string>& own);

 private:
  /// Removes those that are empty, the lowest first, even where the constructor throws.
  struct NewParents {
    ~NewParents();
    std::vector<std::filesystem::path> paths;
  };

  void refuse_loss(const std::filesystem::path& standing) const;
  void finish();  ///< up to the new folder in its place
  void put_in_place();
  void refuse_loss_or_put_back(const std::filesystem::path& old, const std::function<bool()>& put_back);
  [[noreturn]] void leave(const std::filesystem::path& old);

  std::filesystem::path final_, staging_, made_;
  FindLoss find_loss_;
  NewParents new_parents_;
  std::optional<FileLock> lock_;
  std::string lock_problem_;
  bool committed_ = false;
};

/// Whether the caller knows that no other program writes there, which locks cannot tell on every file system.
enum class OtherWriters { kPossible, kNone };

/// Finishes or undoes what killed programs left in `folder`, of every OutputFolder that was made in it: a folder that
/// was moved out of its place is back, what was half made is gone. Returns where things of others are that could not
/// stay (NAME.kept-N). Throws MachineError.
std::vector<std::filesystem::path> recover_output_folders(const std::filesystem::path& folder, OtherWriters others);
/// The same for one place, which may be a symbolic link to a folder elsewhere, or to where one has to come back.
std::vector<std::filesystem::path> recover_output_folder(const std::filesystem::path& place, OtherWriters others);

/// Removes a folder in one step: what a kill leaves of it is never found under its name. Throws MachineError, also
/// where something is mounted in it.
void remove_folder(const std::filesystem::path& path);

}  // namespace nmt
