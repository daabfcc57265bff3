#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/log.h"

namespace nmt {

using DirectoryWriter = std::function<void(const std::filesystem::path&)>;

/// Makes `directory` whole or not at all, as OutputFolder does: `write` fills a folder beside it, checksums of its
/// files are added (checksums.json), everything is synced and put in the place of what stands there. Returns the path
/// under which the old folder is kept, because it has other files than its checksums.json names; else an empty one.
/// Throws MachineError (disk full), with what stood there before still in place.
std::filesystem::path write_directory(const std::filesystem::path& directory, const DirectoryWriter& write);

/// The files of a directory that write_directory made, for OutputFolder: those that its checksums.json names.
std::vector<std::string> files_of_directory(const std::filesystem::path& directory);

/// What is wrong with a directory that write_directory made ("model.safetensors: checksum differs"), or nullopt. Throws
/// Error where this user may not read it: that is no damage.
std::optional<std::string> damage_of(const std::filesystem::path& directory);

/// Updates of which a checkpoint stands in a run's checkpoints/, ascending; none where there is no such folder.
std::vector<int64_t> checkpoints_in(const std::filesystem::path& directory);

using DamageOf = std::function<std::optional<std::string>(const std::filesystem::path&)>;

/// The numbered checkpoints of a run: checkpoints/NNNNNNNN, NNNNNNNN = update.
class CheckpointStore {
 public:
  /// The folder is made if missing; leftovers of interrupted writes are removed: there is one writer at a time.
  CheckpointStore(std::filesystem::path directory, Logger& log);

  /// Writes one and then removes all but the newest `keep` and those of the updates `also`. One that cannot be removed
  /// stays, one with other files in it is renamed to NNNNNNNN.kept-N, each with a warning.
  void save(int64_t update, int64_t keep, const DirectoryWriter& write, const std::set<int64_t>& also = {}) const;
  /// Replaces one file of a checkpoint that stands there, in one step: the checkpoint is whole at every moment. Its
  /// other files are not read or copied where the file system has hard links. Then removes the others as save() does.
  void replace_file(int64_t update, const std::string& name, std::string_view text, int64_t keep,
                    const std::set<int64_t>& also = {}) const;
  /// Does nothing where none stands, and only warns where it cannot be removed.
  void remove(int64_t update) const;
  /// Throws MachineError where the folder was moved or removed since this was made: what is written by its name would
  /// begin another run, which nothing protects from a second program. save() and replace_file() ask, too.
  void require_place() const;
  std::vector<int64_t> updates() const { return checkpoints_in(directory_); }
  std::filesystem::path path(int64_t update) const;
  /// The newest undamaged one; each damaged newer one is renamed to NNNNNNNN.damaged, with a warning. nullopt: there is
  /// none of any kind. Throws Error where all are damaged: they stay as they are, for a new beginning would
  /// replace best/, the only other trace of the training.
  std::optional<int64_t> newest_whole(const DamageOf& damage = damage_of) const;

 private:
  void remove_others(int64_t update, int64_t keep, const std::set<int64_t>& also) const;
  void set_aside(int64_t update, const std::string& damage) const;

  std::filesystem::path directory_;
  Logger& log_;
  mutable std::set<int64_t> left_;  // of which it has warned
};

}  // namespace nmt
