#pragma once

#include <filesystem>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

std::string version();  ///< of the toolkit, "0.3.0"

/// The instruction sets of this processor that the toolkit's kernels make use of: "AVX2 AVX512 AVX512-BF16 AMX", or on
/// ARM64 "NEON DotProd I8MM BF16".
std::string cpu_features();

/// The processor's name as the system gives it, for logs and reports.
std::string cpu_name();

/// The same from a text like that of /proc/cpuinfo. On ARM64 Linux knows no name, but the numbers of maker and kind:
/// "ARM64 processor 0x41 0xd0c".
std::string cpu_name_in(std::istream& info);

/// The models of NVIDIA's cards as the driver lists them, "NVIDIA H200"; empty: no card, or no driver. folder: its
/// list.
std::vector<std::string> card_names(const std::filesystem::path& folder = "/proc/driver/nvidia/gpus");

/// The option by which every program prints its description as JSON instead of doing its work. It is not in --help: the
/// build asks by it, for manual pages and completions.
inline constexpr std::string_view kDescribeOptions = "--describe-options";

/// An option as --help shows it.
struct OptionDescription {
  std::vector<std::string> names;         ///< "-c", "--config"; the ways to say no (--no-ban-unknown) stand last
  std::string value = {};                 ///< the name of its value, "FILE", "DIR", "TEXT"; empty: it takes none
  std::vector<std::string> choices = {};  ///< the words that the value is one of; empty: not such an option
  std::string help = {};
  std::string group = {};          ///< the heading that it stands below
  std::string default_value = {};  ///< empty: none, or said by the help
  std::string environment = {};    ///< the variable that may say it instead, or empty
  bool several_times = false;      ///< each time adds something
  bool several_values = false;     ///< it takes what follows, up to the next option
};

/// A word of the command line that is no option, or a variable of the environment.
struct NamedHelp {
  std::string name, help;
};

/// The command line of a program.
struct ProgramDescription {
  std::string name = {};         ///< "nmt-train"
  std::string description = {};  ///< sentences
  std::string usage = {};        ///< what stands behind the name: "[OPTIONS]"
  std::string examples = {};     ///< commands, a line each
  std::string exit_status = {};  ///< sentences, where they are not those of run_app()
  std::vector<NamedHelp> arguments = {};
  std::vector<OptionDescription> options = {};  ///< those of a group stand together
  std::vector<NamedHelp> environment = {};
};

/// With the summary of the program and its place in `nmt help`. packaging/manual reads it.
nlohmann::json to_json(const ProgramDescription& program);

}  // namespace nmt
