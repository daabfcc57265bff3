#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/files/file_descriptor.h"

namespace nmt {

// What is in the making stands beside its place under a name of its own, NAME.XXXXXX.partial with X drawn at random:
// nothing that stands there is opened, followed or emptied, and two programs never share one.

/// A file made with such a name.
struct PartialFile {
  FileDescriptor descriptor;
  std::filesystem::path path;
};

/// Makes a new empty file for `place`, open to write. mode: as of open(2). descriptor is -1 where the system refuses,
/// with errno set.
PartialFile make_partial_file(const std::filesystem::path& place, mode_t mode);

/// Makes a new empty folder for `place` that only its owner may enter; empty where the system refuses, with errno set.
std::filesystem::path make_partial_folder(const std::filesystem::path& place);

/// A new such name, for what can take no name that stands there.
std::filesystem::path partial_name(const std::filesystem::path& place);

/// The path of a file in such a folder when the folder is in its place, for messages: NAME/FILE of
/// NAME.XXXXXX.partial/new/FILE.
std::filesystem::path path_in_place(const std::filesystem::path& path);

/// The place that a path with such a name stands for; nullopt for another name.
std::optional<std::filesystem::path> place_of_partial(const std::filesystem::path& path);

}  // namespace nmt
