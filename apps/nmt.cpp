// nmt: one front door for the other programs. `nmt train ...` becomes the nmt-train that stands beside it: the same
// process, so that signals, exit codes and standard streams are the program's own. It needs no library but the C++ one.
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/edit_distance.h"
#include "base/process/programs.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;

// The same codes as in base/process/app.h, which this program does not link.
constexpr int kDone = 0, kMachineFailed = 1, kUserMustChange = 2;

/// What other toolkits, and people, call it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOtherNames{{{"serve", "translate --serve"},
                                                                                    {"server", "translate --serve"},
                                                                                    {"preprocess", "prepro"},
                                                                                    {"prepare", "prepro"},
                                                                                    {"evaluate", "eval"},
                                                                                    {"decode", "translate"},
                                                                                    {"sacrebleu", "score"},
                                                                                    {"bleu", "score"},
                                                                                    {"convert", "export"}}};

std::string help_text() {
  std::string text =
      "nmt: neural machine translation\n"
      "Usage: nmt COMMAND [OPTIONS]\n\n"
      "Commands:\n";
  const auto row = [&](std::string_view name, std::string_view summary) {
    text += "  ";
    text += name;
    text.append(16 - std::min<size_t>(name.size(), 15), ' ');
    text += summary;
    text += '\n';
  };
  for (const auto& [name, summary] : kPrograms) row(name, summary);
  row("help [COMMAND]", "this text, or the options of a command");
  row("help options W", "options of a configuration that have the word W");
  row("--version", "the version of the toolkit");
  text += "\n`nmt train` is the program nmt-train, and so on. Manual pages: nmt(1), nmt-train(1), nmt-config(5).\n";
  return text;
}

int fail(const std::string& message, int exit_code) {
  std::fprintf(stderr, "nmt: %s\n", message.c_str());
  return exit_code;
}

bool is_program(std::string_view name) {
  return std::ranges::any_of(kPrograms, [&](const ProgramSummary& program) { return program.name == name; });
}

std::string suggestion(std::string_view given) {
  if (given.starts_with("nmt-")) given.remove_prefix(4);
  for (const auto& [other, name] : kOtherNames)
    if (other == given) return "; did you mean nmt " + std::string(name) + "?";
  std::vector<std::string> names = {"help"};
  for (const ProgramSummary& program : kPrograms) names.emplace_back(program.name);
  const auto meant = nearest_name(given, names);
  return meant ? "; did you mean nmt " + *meant + "?" : "; nmt help lists the commands";
}

/// The folder of this program, links resolved; never looked up in PATH. Empty if the system does not tell.
fs::path own_folder() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed) {  // no /proc, as in a bare chroot: the path that the kernel was given
    const auto* given = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    program = given == nullptr ? fs::path() : fs::canonical(given, failed);
  }
  return program.parent_path();
}

/// Becomes the program of a command; returns an exit code only where that fails.
int become(const std::string& command, const std::vector<char*>& arguments) {
  const fs::path folder = own_folder();
  if (folder.empty()) return fail("cannot tell in which folder it stands: is /proc mounted?", kMachineFailed);
  const std::string name = "nmt-" + command;
  std::string path = (folder / name).string();
  std::vector<char*> all{path.data()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  all.push_back(nullptr);
  ::execv(path.c_str(), all.data());
  const int error = errno;
  if (error == ENOENT && !fs::exists(path))
    return fail(path + " is not there; install all programs into one folder (a build without LibTorch has not all)",
                kMachineFailed);
  return fail("cannot start " + path + ": " + std::strerror(error), kMachineFailed);
}

int unknown(std::string_view given) {
  const bool option = given.starts_with("-");
  std::string shown;
  for (const char c : given.substr(0, 64)) shown += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  if (option) return fail("unknown option " + shown + "; nmt help lists the commands", kUserMustChange);
  return fail("unknown command " + shown + suggestion(given), kUserMustChange);
}

int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return kDone;
  return fail(std::string("cannot write to standard output: ") + std::strerror(errno), kMachineFailed);
}

int run(int argc, char** argv) {
  std::vector<char*> rest(argv + std::min(argc, 2), argv + argc);
  if (argc < 2) {
    std::fputs(help_text().c_str(), stderr);
    return kUserMustChange;
  }
  const std::string command = argv[1];
  if (is_program(command)) return become(command, rest);
  if (command == "--version") return print("nmt " NMT_VERSION "\n");
  if (command != "help" && command != "--help" && command != "-h") return unknown(command);
  if (rest.empty()) return print(help_text());
  const std::string topic = rest.front();
  if (topic == "options" && rest.size() == 2) {
    std::string option = "--find-option";
    return become("prepro", {option.data(), rest.back()});
  }
  if (!is_program(topic)) return topic == "help" ? print(help_text()) : unknown(topic);
  std::string option = "--help";
  return become(topic, {option.data()});
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  try {
    return nmt::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nmt: %s\n", error.what());
    return nmt::kMachineFailed;
  }
}
