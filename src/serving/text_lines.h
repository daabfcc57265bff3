#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// A text as lines that are translated one by one and put together again: line ends (\n or \r\n) and blank lines stay
/// where they are.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  /// The lines that hold more than white space.
  const std::vector<std::string>& lines() const { return lines_; }
  /// The text with these lines in the place of its own: as many as lines(). Blank lines become empty.
  std::string with(std::span<const std::string> translations) const;

 private:
  std::vector<std::string> lines_;
  std::vector<std::string> between_;  ///< what stands before each line, and behind the last: line ends
};

}  // namespace nmt
