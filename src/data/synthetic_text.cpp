#include "data/synthetic_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

using nlohmann::json;

constexpr const char* kSyntheticFormat = "nmt synthetic text";
constexpr int kSyntheticVersion = 1;

}  // namespace

std::filesystem::path synthetic_text_file(const std::filesystem::path& file) { return file.string() + ".json"; }

json SyntheticText::to_json() const {
  return {{"format", kSyntheticFormat},
          {"version", kSyntheticVersion},
          {"side", side == SyntheticSide::kSource ? "source" : "target"},
          {"symbols", symbols},
          {"sha256", sha256},
          {"made", made}};
}

void SyntheticText::write(const std::filesystem::path& file) const {
  write_file_atomically(synthetic_text_file(file),
                        to_json().dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

std::optional<SyntheticText> SyntheticText::read(const std::filesystem::path& file) {
  const auto path = synthetic_text_file(file);
  constexpr JsonLimits kLimits{.bytes = 1 << 20, .depth = 8, .values = 1 << 16};
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none) || std::filesystem::file_size(path, none) > kLimits.bytes)
    return {};
  const auto record = parse_json_or_null(read_regular_file(path, kLimits.bytes), kLimits);
  if (!record.is_object() || !record.contains("format") || record["format"] != kSyntheticFormat) return {};
  try {
    SyntheticText text;
    const std::string side = record.at("side");
    if (record.at("version") != kSyntheticVersion || (side != "source" && side != "target"))
      throw Error(fmt::format("{}: of another version; move it away, or make the text again", path.string()));
    text.side = side == "source" ? SyntheticSide::kSource : SyntheticSide::kTarget;
    record.at("symbols").get_to(text.symbols);
    record.at("sha256").get_to(text.sha256);
    text.made = record.at("made");
    return text;
  } catch (const json::exception&) {
    throw Error(fmt::format("{}: damaged; move it away, or make the text again", path.string()));
  }
}

}  // namespace nmt
