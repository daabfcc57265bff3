#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/strict_json.h"

namespace nmt {

/// What a text of JSON may be: its tree takes far more memory than the text, and whatever walks through it (dump(), a
/// copy) calls itself once a level.
struct JsonLimits {
  size_t bytes = 16 << 20;
  size_t depth = 32;        ///< of lists and objects in one another
  size_t values = 1 << 20;  ///< numbers, texts, lists, objects
};

/// What keeps a text from being read: "not JSON (at byte 7)", "nested deeper than 32 levels", "of more than ... bytes";
/// nullopt: it is JSON within the limits. Takes no memory that grows with the text.
std::optional<std::string> problem_of_json(std::string_view text, const JsonLimits& limits = {});

/// The text as a tree: nlohmann::json, or ordered_json, which keeps the order of keys. Throws Error that begins with
/// `name`: not JSON, or beyond the limits.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits = {});

/// The same, but null for what cannot be read.
template <typename Json = nlohmann::json>
Json parse_json_or_null(std::string_view text, const JsonLimits& limits = {});

/// For the message on a text that could not be parsed: what else may be wrong with it, or "".
std::string_view escape_hint(std::string_view text);

/// A regular file of JSON. Throws Error: it cannot be read, is a pipe or device, or what parse_json() throws.
nlohmann::json read_json_file(const std::filesystem::path& path, const JsonLimits& limits = {});

}  // namespace nmt
