#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// A fuzz target: what a reader does with bytes of a stranger. NAME_target.cpp is `NMT_FUZZ_TARGET(NAME, input) {...}`.
/// With NMT_WITH_LIBFUZZER it is a program of libFuzzer's (scripts/fuzz.sh); else it is in the list of targets, and
/// replay_test.cpp runs it on seeds/NAME.
namespace nmt::fuzz {

using Target = void (*)(std::string_view input);

struct NamedTarget {
  const char* name;
  Target target;
};

inline std::vector<NamedTarget>& targets() {
  static std::vector<NamedTarget> list;
  return list;
}

inline bool add_target(const char* name, Target target) {
  targets().push_back({name, target});
  return true;
}

/// Ends the program unless `holds`.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Whether `body` takes its input. It may refuse it by an Error that says why; anything else ends the program.
template <typename Body>
bool takes(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "a refusal says why");
    return false;
  }
}

inline volatile unsigned char looked_at;  // keeps the compiler from leaving look_at() out

/// Looks at all bytes of `items`, so that a sanitizer sees those that are not there.
template <typename Items>
void look_at(const Items& items) {
  for (const auto& item : items) looked_at = static_cast<unsigned char>(item);
}

/// A folder for readers that ask for files; removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nmt-fuzz-XXXXXX").string();
    if (!mkdtemp(pattern.data())) std::abort();
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// The path of a file with these bytes.
  std::filesystem::path put(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// Input for several files: what stands between lines "%%". Missing parts are empty.
inline std::vector<std::string> parts_of(std::string_view input, size_t count) {
  constexpr std::string_view kBorder = "\n%%\n";
  std::vector<std::string> parts;
  while (parts.size() + 1 < count) {
    const size_t end = input.find(kBorder);
    parts.emplace_back(input.substr(0, end));
    input = end == input.npos ? std::string_view() : input.substr(end + kBorder.size());
  }
  parts.emplace_back(input);
  return parts;
}

}  // namespace nmt::fuzz

#ifdef NMT_WITH_LIBFUZZER
#define NMT_FUZZ_TARGET(name, input)                                         \
  static void fuzz_##name(std::string_view input);                           \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) { \
    fuzz_##name({reinterpret_cast<const char*>(bytes), size});               \
    return 0;                                                                \
  }                                                                          \
  static void fuzz_##name(std::string_view input)
#else
#define NMT_FUZZ_TARGET(name, input)                                                               \
  static void fuzz_##name(std::string_view input);                                                 \
  [[maybe_unused]] static const bool name##_is_listed = nmt::fuzz::add_target(#name, fuzz_##name); \
  static void fuzz_##name(std::string_view input)
#endif
