#include "data/codec_directory.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/loading/model_description.h"
#include "data/manifest.h"

namespace nmt {

TextCodec load_codec(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / kManifestFile))
    return TextCodec::load(directory, Manifest::read(directory).tokenizer);
  if (!std::filesystem::exists(directory / "model.json"))
    throw Error(fmt::format("{}: neither prepared data (data.dir of a configuration) nor a model directory",
                            directory.string()));
  return TextCodec::load(directory, read_model_description(directory).tokenizer);
}

}  // namespace nmt
