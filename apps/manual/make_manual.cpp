// make_manual: manual pages and completions, of what the programs say of their command lines. Part of the build; it is
// not installed.
//   make_manual VERSION DATE FOLDER DESCRIPTION...    each DESCRIPTION is what `nmt-NAME --describe-options` printed
#include <fmt/format.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/process/app.h"
#include "base/process/program_description.h"
#include "manual/bash_completion.h"
#include "manual/fish_completion.h"
#include "manual/man_pages.h"
#include "manual/zsh_completion.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  write_file_atomically(path, text);
}

/// With no time and no name in it: the same bytes each time.
void write_compressed(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  const gzFile file = gzopen(path.c_str(), "wb9");
  const bool written = file != nullptr && gzwrite(file, text.data(), static_cast<unsigned>(text.size())) > 0;
  if (file == nullptr || gzclose(file) != Z_OK || !written)
    throw MachineError(fmt::format("{}: cannot be written", path.string()));
}

void link(const fs::path& path, const std::string& target) {
  fs::remove(path);
  fs::create_symlink(target, path);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 4) throw Error("make_manual VERSION DATE FOLDER DESCRIPTION...");
  const ManualEdition edition{.version = arguments[0], .date = arguments[1]};
  const fs::path folder = arguments[2];
  std::vector<ProgramDescription> programs;
  for (size_t i = 3; i < arguments.size(); ++i) {
    constexpr size_t kLargest = size_t{1} << 24;
    programs.push_back(read_program_description(read_file(arguments[i], kLargest)));
  }
  const fs::path man = folder / "man";
  const fs::path bash = folder / "bash";
  const fs::path fish = folder / "fish";
  write_compressed(man / "man1" / "nmt.1.gz", front_door_page(edition));
  write_compressed(man / "man5" / "nmt-config.5.gz", configuration_page(edition));
  write(bash / "nmt", bash_completion(programs));
  write(folder / "zsh" / "_nmt", zsh_completion(programs));
  write(fish / "nmt.fish", fish_completion(programs));
  for (const auto& program : programs) {
    write_compressed(man / "man1" / (program.name + ".1.gz"), man_page(program, edition));
    link(bash / program.name, "nmt");  // bash-completion loads a file by the name of the command
    write(fish / (program.name + ".fish"), fish_completion(program));
  }
  return kDone;
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("make_manual", [&] { return nmt::run({argv + (argc > 0 ? 1 : 0), argv + argc}); });
}
