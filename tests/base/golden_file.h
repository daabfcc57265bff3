#pragma once

#include <string>
#include <vector>

#include "base/files/file.h"
#include "support.h"

namespace nmt::test {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> fields(1);
  for (const char c : text) {
    if (c == separator) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// The rows of tests/base/golden/NAME whose first field is `kind`, without it. Fails if there are none.
inline std::vector<std::vector<std::string>> golden_rows(const std::string& name, const std::string& kind) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& line : split(read_file(source_directory() / "tests/base/golden" / name), '\n')) {
    auto fields = split(line, '\t');
    if (fields[0] == kind) rows.emplace_back(fields.begin() + 1, fields.end());
  }
  if (rows.empty()) ADD_FAILURE() << "no rows " << kind << " in " << name;
  return rows;
}

inline std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace nmt::test
