// Lines of plain and gzip files, told by their first bytes.
#include <algorithm>

#include "base/files/line_reader.h"
#include "fuzz_target.h"

NMT_FUZZ_TARGET(gzip, input) {
  static const nmt::fuzz::Folder folder;
  const auto path = folder.put("x", input);
  int64_t lines = 0;
  const bool taken = nmt::fuzz::takes([&] {
    nmt::LineReader reader(path);
    while (reader.ready(-1) && reader.next()) ++lines;
    nmt::fuzz::require(lines == reader.line_number(), "all lines are counted");
  });
  if (input.starts_with("\x1f\x8b")) return;
  nmt::fuzz::require(taken, "any text is read");
  const auto ends = std::ranges::count(input, '\n') + (!input.empty() && input.back() != '\n');
  nmt::fuzz::require(lines == ends, "every line is read");
}
