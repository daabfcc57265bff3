#include "base/process/user_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "base/error.h"
#include "base/files/file_descriptor.h"

namespace fs = std::filesystem;

namespace nmt {
namespace {

/// The same text for the same file; empty for what is no file.
std::string identity_of(const fs::path& path, int standard_stream) {
  if (path.empty()) return "";
  const bool is_stream = path == "-";
  struct stat file;
  if ((is_stream ? ::fstat(standard_stream, &file) : ::stat(path.c_str(), &file)) == 0)
    return S_ISREG(file.st_mode) ? fmt::format("{}:{}", file.st_dev, file.st_ino) : "";
  if (is_stream) return "";
  std::error_code none;
  const auto known = fs::weakly_canonical(fs::absolute(path, none), none);
  return none ? fs::absolute(path, none).lexically_normal().string() : known.string();
}

std::string described(const UserFile& file, const char* standard_stream) {
  return file.path == "-" ? standard_stream : fmt::format("{} {}", file.option, file.path.string());
}

}  // namespace

void require_file_name(const std::string& option, const std::string& name) {
  if (name.find('\0') != std::string::npos) throw Error(fmt::format("{}: a zero byte stands in the name", option));
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  std::error_code none;
  for (auto path = fs::weakly_canonical(fs::absolute(inner, none), none); !path.empty(); path = path.parent_path()) {
    if (fs::equivalent(path, outer, none)) return true;
    if (path == path.root_path()) break;
  }
  return false;
}

void make_folder(const std::string& option, const fs::path& folder) {
  std::error_code reason;
  fs::create_directories(folder, reason);
  if (reason)
    throw Error(fmt::format("{} {}: cannot make the folder ({}); name another one", option, folder.string(),
                            system_message(reason.value())));
}

void append_files_of_folder(const std::string& option, const fs::path& folder, std::vector<UserFile>& files) {
  std::error_code unreadable;
  for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end; at.increment(unreadable))
    files.push_back({option, at->path()});
}

void check_outputs(const std::vector<UserFile>& inputs, const std::vector<UserFile>& outputs) {
  for (const auto* files : {&inputs, &outputs})
    for (const auto& file : *files) require_file_name(file.option, file.path.native());
  std::map<std::string, std::string> named;  // what is named already
  for (const auto& input : inputs)
    named.emplace(identity_of(input.path, STDIN_FILENO), described(input, "standard input"));
  for (const auto& output : outputs) {
    const auto identity = identity_of(output.path, STDOUT_FILENO);
    const auto description = described(output, "standard output");
    const auto [other, is_new] = named.emplace(identity, description);
    if (!is_new && !identity.empty())
      throw Error(fmt::format("{}: is the same file as {}; name another one", description, other->second));
  }
}

}  // namespace nmt
