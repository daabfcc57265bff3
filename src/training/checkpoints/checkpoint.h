#pragma once

#include <sys/types.h>

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
/// files are added (checksums.json), everything is synced and put in the place of what stands there. What others have
/// put there stays, beside the new files. Throws MachineError (disk full), with what stood there before still in place.
void write_directory(const std::filesystem::path& directory, const DirectoryWriter& write);

/// What is wrong with a directory that write_directory made ("model.safetensors: checksum differs"), or nullopt.
std::optional<std::string> damage_of(const std::filesystem::path& directory);

using DamageOf = std::function<std::optional<std::string>(const std::filesystem::path&)>;

/// The numbered checkpoints of a run: checkpoints/NNNNNNNN, NNNNNNNN = update.
class CheckpointStore {
 public:
  /// The folder is made if missing; leftovers of interrupted writes are removed: there is one writer at a time.
  explicit CheckpointStore(std::filesystem::path directory);

  /// Writes one and then removes all but the newest `keep` and those of the updates `also`.
  void save(int64_t update, int64_t keep, const DirectoryWriter& write, const std::set<int64_t>& also = {}) const;
  /// Replaces one file of a checkpoint that stands there, in one step: the checkpoint is whole at every moment. Its
  /// other files are not read or copied where the file system has hard links. Then removes the others as save() does.
  void replace_file(int64_t update, const std::string& name, std::string_view text, int64_t keep,
                    const std::set<int64_t>& also = {}) const;
  /// Does nothing where none stands.
  void remove(int64_t update) const;
  /// Throws MachineError where the folder was moved or removed since this was made: what is written by its name would
  /// begin another run, which nothing protects from a second program. save() and replace_file() ask, too.
  void require_place() const;
  /// Updates of which a checkpoint stands there, ascending.
  std::vector<int64_t> updates() const;
  std::filesystem::path path(int64_t update) const;
  /// The newest undamaged one; each damaged newer one is renamed to NNNNNNNN.damaged, with a warning. nullopt: there is
  /// none of any kind. Throws Error where all are damaged: they stay as they are, for who would begin anew would
  /// replace best/, the only other trace of the training.
  std::optional<int64_t> newest_whole(Logger& log, const DamageOf& damage = damage_of) const;

 private:
  void remove_others(int64_t update, int64_t keep, const std::set<int64_t>& also) const;
  void set_aside(int64_t update, const std::string& damage, Logger& log) const;

  std::filesystem::path directory_;
  std::pair<dev_t, ino_t> identity_;  ///< of the folder
};

}  // namespace nmt
