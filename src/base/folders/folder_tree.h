#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace nmt {

/// Removes a folder of ours and all in it, through folders without rights, too. What is mounted in it is another's:
/// then nothing is removed.
void remove_tree(const std::filesystem::path& folder);

/// Whether something is mounted on a folder in `folder`.
bool has_mount_point(const std::filesystem::path& folder);

/// Empties a folder that `heir` has taken the place of. Files of these names (`own`) are removed; all else is moved
/// into `heir` as it is, be it a file, a folder, a link or a pipe, and also what comes while this is at work. What
/// cannot be moved (its name is taken, it is another user's folder, something is mounted on it) stays where it is, and
/// `folder` becomes HEIR.kept-N. Returns that path; empty: nothing is left of the folder.
std::filesystem::path hand_over(const std::filesystem::path& folder, const std::filesystem::path& heir,
                                const std::set<std::string>& own);

}  // namespace nmt
