#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nmt::convert {

/// Tokens and their ids from a vocabulary of Marian in JSON or YAML (by the name's ending). Throws Error for what is
/// none, for a token or an id that stands twice, and for an id out of 0 .. rows-1.
std::map<std::string, int64_t> read_vocabulary(const std::filesystem::path& path, int64_t rows);

/// The entries as they stand there; `name` is shown in messages. Throws Error for what is no map of tokens and ids.
std::vector<std::pair<std::string, int64_t>> parse_json_vocabulary(const std::string& text, const std::string& name);
std::vector<std::pair<std::string, int64_t>> parse_yaml_vocabulary(const std::string& text, const std::string& name);

}  // namespace nmt::convert
