// Lines of plain, gzip and zstd files, told by their first bytes.
#include <algorithm>

#include "base/files/line_reader.h"
#include "fuzz_target.h"

namespace {

int64_t count_lines(const std::filesystem::path& path, nmt::LongestLine longest) {
  nmt::LineReader reader(path, longest, nmt::ForeignBytes::kRead);
  while (reader.next()) {
    if (reader.is_cut()) nmt::fuzz::require(longest.beyond == nmt::LongestLine::Beyond::kLeaveOut, "only then");
  }
  return reader.line_number();
}

}  // namespace

NMT_FUZZ_TARGET(gzip, input) {
  static const nmt::fuzz::Folder folder;
  const auto path = folder.put("x", input);
  int64_t lines = 0;
  const bool taken = nmt::fuzz::takes([&] {
    nmt::LineReader reader(path, {}, nmt::ForeignBytes::kRead);
    while (reader.ready(-1) && reader.next()) ++lines;
    nmt::fuzz::require(lines == reader.line_number(), "all lines are counted");
  });
  int64_t other_lines = lines;
  nmt::fuzz::takes([&] {
    nmt::LineReader reader(path);
    other_lines = 0;
    while (reader.next()) ++other_lines;
  });
  nmt::fuzz::require(!taken || other_lines == lines || other_lines == 0, "what is no foreign format is read as before");
  for (const char* packed : {"\x1f\x8b", "\x28\xB5\x2F\xFD", "P\x2A\x4D\x18"})
    if (input.starts_with(packed)) return;
  nmt::fuzz::require(taken, "any text is read");
  const auto ends = std::ranges::count(input, '\n') + (!input.empty() && input.back() != '\n');
  nmt::fuzz::require(lines == ends, "every line is read");

  // Lines longer than allowed are cut or refused, and as many as before.
  constexpr size_t kShort = 5;
  nmt::fuzz::require(count_lines(path, {kShort, nmt::LongestLine::Beyond::kLeaveOut}) == lines, "a cut line is a line");
  bool is_long = false;
  for (size_t begin = 0; begin < input.size();) {
    const size_t end = std::min(input.find('\n', begin), input.size());
    is_long |= end - begin > kShort;
    begin = end + 1;
  }
  nmt::fuzz::require(nmt::fuzz::takes([&] {
                       count_lines(path, {kShort, nmt::LongestLine::Beyond::kRefuse});
                     }) != is_long,
                     "a line that is too long is refused");
}
