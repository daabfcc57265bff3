#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace nmt {

/// SHA-256 in hexadecimal, as sha256sum prints it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  std::string hex();  ///< ends the sum: nothing may be added, nor hex() be called, after it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_of_file(const std::filesystem::path& path);  ///< throws Error if it can't be read
std::string sha256_of_bytes(std::string_view bytes);

}  // namespace nmt
