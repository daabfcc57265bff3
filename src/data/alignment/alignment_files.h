#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/process/log.h"
#include "text/codec/codec.h"

namespace nmt {

struct AlignmentFilesOptions {
  int threads = 1;
  std::function<bool()> should_stop = {};
};

/// Learns from folder/train.bin the most probable target pieces of each source piece, and writes them to lexicon.bin
/// (train_lexicon). candidates: of each piece, at most. Returns the file's SHA-256, or nothing where it was told to
/// stop.
std::optional<std::string> write_lexicon(const std::filesystem::path& folder, const TextCodec& codec,
                                         int64_t candidates, const AlignmentFilesOptions& options, Logger& log);

/// Aligns the pieces of the pairs of folder/train.bin, and writes the links to alignment.bin (align_pairs). Returns as
/// write_lexicon does.
std::optional<std::string> write_alignment(const std::filesystem::path& folder, const TextCodec& codec,
                                           const AlignmentFilesOptions& options, Logger& log);

}  // namespace nmt
