#pragma once

#include <filesystem>

#include "convert/marian/marian_folder.h"

namespace nmt::convert {

/// Marian's own form as OPUS-MT publishes it: decoder.yml, the .npz and vocabularies that it names, source.spm,
/// target.spm. Throws Error naming what cannot be represented, or is missing or damaged.
MarianFolder open_marian_npz(const std::filesystem::path& directory);

}  // namespace nmt::convert
