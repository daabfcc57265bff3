#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace nmt {
namespace {

bool is_for_the_user(const std::error_code& reason) {
  constexpr std::errc kReasons[] = {std::errc::permission_denied,     std::errc::operation_not_permitted,
                                    std::errc::read_only_file_system, std::errc::not_a_directory,
                                    std::errc::is_a_directory,        std::errc::file_exists,
                                    std::errc::filename_too_long,     std::errc::too_many_symbolic_link_levels};
  return std::ranges::any_of(kReasons, [&](std::errc one) { return reason == one; });
}

}  // namespace

std::string first_line(const std::exception& error) {
  const std::string all = error.what();
  return all.substr(0, all.find('\n'));
}

void throw_path_error(const std::string& message, const std::error_code& reason) {
  if (is_for_the_user(reason) || reason == std::errc::no_such_file_or_directory) throw Error(message);
  throw MachineError(message);
}

void throw_path_error(const std::filesystem::filesystem_error& error) {
  if (error.path1().empty() || !is_for_the_user(error.code())) throw MachineError(error.what());
  throw Error(fmt::format("{}: cannot be used ({}); change its name or permissions, or name another",
                          error.path1().string(), error.code().message()));
}

}  // namespace nmt
