#include "evaluation/attention_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/file.h"
#include "report/pictures/attention_picture.h"
#include "translation/attention_grids.h"

namespace nmt {

void write_attention(const std::filesystem::path& folder, std::span<const int64_t> sentences, const LoadedModel& loaded,
                     const TestSet& test_set, const std::vector<std::string>& hypotheses) {
  std::filesystem::create_directories(folder);
  for (const int64_t number : sentences) {
    const auto grids =
        attention_grids(*loaded.model, loaded.codec, loaded.codec.encode_source(test_set.sources[number - 1]),
                        loaded.codec.encode_target(hypotheses[number - 1]));
    const auto* picture = last_cross_attention(grids);
    if (!picture) throw Error(fmt::format("{}: this model has no attention to draw", loaded.directory.string()));
    write_file_atomically(folder / fmt::format("{}.svg", number), attention_svg(*picture));
    write_file_atomically(folder / fmt::format("{}.json", number), attention_json(grids).dump() + "\n");
  }
}

}  // namespace nmt
