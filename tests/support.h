#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

/// What several tests need: scratch folders and the real data beside the repository.
namespace nmt::test {

/// A fresh folder that is removed with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nmt-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("cannot make a temporary folder");
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The repository, set by ctest.
inline std::filesystem::path source_directory() {
  const char* value = std::getenv("NMT_SOURCE_DIR");
  return value ? value : ".";
}

/// Real data for development ($NMT_SHARED, else ../shared beside the repository); empty where there is none:
/// then GTEST_SKIP() with a reason.
inline std::filesystem::path shared_directory() {
  if (const char* value = std::getenv("NMT_SHARED")) return value;
  const auto beside = source_directory() / ".." / "shared";
  return std::filesystem::exists(beside / "data") ? beside : std::filesystem::path();
}

/// The what() of the E that `body` throws; a test failure if it throws nothing or something else.
template <typename E, typename F>
std::string message_of(F&& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace nmt::test
