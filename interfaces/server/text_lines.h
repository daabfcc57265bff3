#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// A text as lines that are translated one by one and put together again: line ends (\n or \r\n) and lines without a
/// letter, such as blank ones and numbers, stay as they are.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  /// The lines that hold a letter.
  const std::vector<std::string>& lines() const { return lines_; }
  /// The number of such a line among all lines of the text, from 0.
  int64_t number(size_t line) const { return numbers_[line]; }
  /// The text with these lines in the place of its own: as many as lines().
  std::string with(std::span<const std::string> translations) const;

 private:
  std::vector<std::string> lines_;
  std::vector<int64_t> numbers_;
  std::vector<std::string> between_;  ///< what stands before each line, and behind the last
};

}  // namespace nmt
