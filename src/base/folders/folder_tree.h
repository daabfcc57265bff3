#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace nmt {

/// The name of something in `folder` that is no regular file of one of these names ("file" or "folder/file"), nor a
/// folder of some; nullopt where there is none.
std::optional<std::string> foreign_entry(const std::filesystem::path& folder, const std::set<std::string>& names);

/// Removes a folder of ours and all in it, through folders without rights, too. What is mounted in it is another's:
/// then nothing is removed.
void remove_tree(const std::filesystem::path& folder);

/// Whether something is mounted there.
bool is_mount_point(const std::filesystem::path& path);

/// Whether something is mounted on a folder in `folder`.
bool has_mount_point(const std::filesystem::path& folder);

/// Empties a folder that `heir` has taken the place of. Files of these names (`own`) are removed; all else is moved
/// into `heir` as it is, be it a file, a folder, a link or a pipe, and also what comes while this is at work. What
/// cannot be moved (its name is taken, it is another user's folder, something is mounted on it) stays where it is, and
/// `folder` becomes HEIR.kept-N. Returns that path; empty: nothing is left of the folder.
/// heir: the new folder, whatever of `own` it has.
std::filesystem::path hand_over(const std::filesystem::path& folder, const std::filesystem::path& heir,
                                const std::set<std::string>& own);

/// Whether `place` has those of these names that `folder` has.
bool has_all_of(const std::filesystem::path& place, const std::set<std::string>& names,
                const std::filesystem::path& folder);

/// Renames a folder to HEIR.kept-N, the first N that is free, and returns that path; `folder` where it cannot be.
std::filesystem::path set_aside(const std::filesystem::path& folder, const std::filesystem::path& heir);

}  // namespace nmt
