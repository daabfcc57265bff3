#pragma once

#include <filesystem>
#include <memory>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// The reader of the format that these files have, told by how many they are and by their names. Throws Error: files
/// that cannot be read, a file that holds both sides beside another one, JSON lines in a file named *.json.
std::unique_ptr<PairReader> make_pair_reader(const CorpusFiles& files, Utf8Policy policy);

/// Whether a file of this name holds both sides (*.jsonl), so that it is rightly named for each of them.
bool holds_both_sides(const std::filesystem::path& path);

}  // namespace nmt
