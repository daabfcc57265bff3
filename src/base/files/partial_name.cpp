#include "base/files/partial_name.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string_view>

namespace nmt {
namespace {

constexpr std::string_view kEnding = ".partial";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
constexpr size_t kRandomLetters = 6;

}  // namespace

std::filesystem::path partial_name(const std::filesystem::path& place) {
  std::random_device random;
  std::string name = place.string() + ".";
  for (size_t i = 0; i < kRandomLetters; ++i) name += kLetters[random() % kLetters.size()];
  return name.append(kEnding);
}

PartialFile make_partial_file(const std::filesystem::path& place, mode_t mode) {
  for (;;) {
    auto path = partial_name(place);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST) return {FileDescriptor(descriptor), std::move(path)};
  }
}

std::filesystem::path make_partial_folder(const std::filesystem::path& place) {
  for (;;) {
    auto path = partial_name(place);
    if (::mkdir(path.c_str(), S_IRWXU) == 0) return path;
    if (errno != EEXIST) return {};
  }
}

std::filesystem::path path_in_place(const std::filesystem::path& path) {
  std::filesystem::path result;
  bool in_partial = false;
  for (const auto& part : path) {
    const auto place = place_of_partial(part);
    if (!in_partial || part != "new") result /= place.value_or(part);
    in_partial = place.has_value();
  }
  return result;
}

std::optional<std::filesystem::path> place_of_partial(const std::filesystem::path& path) {
  std::string_view name = path.native();
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  if (name.size() < kRandomLetters + 2) return std::nullopt;
  const auto drawn = name.substr(name.size() - kRandomLetters);
  name.remove_suffix(kRandomLetters);
  if (!name.ends_with('.') || drawn.find_first_not_of(kLetters) != drawn.npos) return std::nullopt;
  name.remove_suffix(1);
  if (name.ends_with('/')) return std::nullopt;
  return std::filesystem::path(name);
}

}  // namespace nmt
