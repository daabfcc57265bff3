#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nmt {

/// A file that a user names, and the option that does.
struct UserFile {
  std::string option;
  std::filesystem::path path;  ///< "-": standard input or output; empty: none
};

/// Throws Error for a zero byte: there the system's name ends, and another file would be read or written.
void require_file_name(const std::string& option, const std::string& name);

/// Throws Error for such names, where an output is an input, too, or where two outputs are one file: one would be lost
/// without a word. Files are told by device and inode, whatever their names; those that are not there yet by their
/// paths. Devices, pipes and terminals may be named several times.
void check_outputs(const std::vector<UserFile>& inputs, const std::vector<UserFile>& outputs);

/// Appends the files of a folder that `option` names, such as a model: for check_outputs(). None where it cannot be
/// read.
void append_files_of_folder(const std::string& option, const std::filesystem::path& folder,
                            std::vector<UserFile>& files);

/// Whether a file or folder is the folder `outer` or lies in it, at any depth and by whatever names; false where
/// `outer` is not there.
bool lies_in(const std::filesystem::path& inner, const std::filesystem::path& outer);

/// Makes the folder that `option` names, and those above it, where it is not there. Throws Error.
void make_folder(const std::string& option, const std::filesystem::path& folder);

}  // namespace nmt
