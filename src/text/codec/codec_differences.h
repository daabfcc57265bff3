#pragma once

#include <string>
#include <vector>

#include "text/codec/codec.h"

namespace nmt {

/// How two ways from text to ids differ, "data.lowercase is true there and false here"; none: they give the same ids.
/// Languages and the source's prefix (another task of the same model) are not compared.
std::vector<std::string> codec_differences(const TextCodec& theirs, const TextCodec& ours);

}  // namespace nmt
