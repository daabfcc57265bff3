#include "text/pairs/pair_formats.h"

#include <array>
#include <filesystem>
#include <string_view>

#include "base/unicode.h"
#include "text/pairs/json_lines_reader.h"
#include "text/pairs/tsv_reader.h"
#include "text/pairs/two_files_reader.h"

namespace nmt {
namespace {

/// A format whose files hold both sides, told by the ending of their names.
struct PairFormat {
  std::string_view ending;  ///< before ".gz"
  std::unique_ptr<PairReader> (*make)(const CorpusFiles& files, Utf8Policy policy);
};

template <typename Reader>
std::unique_ptr<PairReader> make(const CorpusFiles& files, Utf8Policy policy) {
  return std::make_unique<Reader>(files, policy);
}

/// A new format is a file and a row here.
constexpr std::array kFormats = {PairFormat{".jsonl", make<JsonLinesReader>},
                                 PairFormat{".ndjson", make<JsonLinesReader>}};

bool has_ending(std::filesystem::path path, std::string_view ending) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.extension() == ending;
}

/// JSON lines of a name that says JSON alone would be read as text, and learnt from.
void refuse_unnamed_json_lines(const std::string& option, const std::filesystem::path& path) {
  if (!has_ending(path, ".json")) return;
  auto lines = with_option_named(option, [&] { return TextReader(path, TextFormat::kPlain); });
  const auto line = with_option_named(option, [&] { return lines.next(); });
  const std::string_view text = line ? strip(*line) : std::string_view();
  if (text.starts_with('{') && strip(text.substr(1)).starts_with('"'))
    throw Error(option + " " + path.string() + ": holds JSON; name it *.jsonl to have it read as JSON lines");
}

[[noreturn]] void refuse_beside_another(const std::string& option, const std::filesystem::path& path,
                                        const std::string& other_option) {
  throw Error(option + " " + path.string() + ": holds both sides; name it in " + other_option + ", too");
}

}  // namespace

bool holds_both_sides(const std::filesystem::path& path) {
  return std::ranges::any_of(kFormats, [&](const PairFormat& format) { return has_ending(path, format.ending); });
}

std::unique_ptr<PairReader> make_pair_reader(const CorpusFiles& files, Utf8Policy policy) {
  for (const auto& [ending, make] : kFormats) {
    const bool is_source = has_ending(files.source, ending), is_target = has_ending(files.target, ending);
    if (is_source && (files.target.empty() || files.target == files.source)) return make(files, policy);
    if (is_source) refuse_beside_another(files.source_option, files.source, files.target_option);
    if (is_target) refuse_beside_another(files.target_option, files.target, files.source_option);
  }
  refuse_unnamed_json_lines(files.source_option, files.source);
  refuse_unnamed_json_lines(files.target_option, files.target);
  if (files.target.empty()) return std::make_unique<TsvReader>(files, policy);
  return std::make_unique<TwoFilesReader>(files, policy);
}

}  // namespace nmt
