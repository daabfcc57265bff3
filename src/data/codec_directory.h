#pragma once

#include <filesystem>

#include "text/codec/codec.h"

namespace nmt {

/// The way from text to ids and back of prepared data or of a model directory. Throws Error where the folder is
/// neither, and as TextCodec::load().
TextCodec load_codec(const std::filesystem::path& directory);

}  // namespace nmt
