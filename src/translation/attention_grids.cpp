#include "translation/attention_grids.h"

#include <algorithm>
#include <string>

#include "search/search.h"
#include "text/codec/source_markers.h"

namespace nmt {
namespace {

Batch batch_of(std::span<const int32_t> source, std::span<const int32_t> target, SourceMarkers markers) {
  const int64_t source_width = source_length(std::ssize(source), markers), target_width = std::ssize(target) + 1;
  Batch batch{.size = 1,
              .source_width = source_width,
              .target_width = target_width,
              .indices = {0},
              .source = std::vector<int64_t>(source_width),
              .target_in = {SpecialIds::kBegin},
              .target_out = {target.begin(), target.end()},
              .source_lengths = {source_width},
              .target_lengths = {target_width},
              .source_tokens = source_width,
              .target_tokens = target_width};
  write_source(source, markers, batch.source.data());
  batch.target_in.insert(batch.target_in.end(), target.begin(), target.end());
  batch.target_out.push_back(SpecialIds::kEnd);
  return batch;
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::vector<int64_t>& ids) {
  std::vector<std::string> texts;
  for (const int64_t id : ids) texts.push_back(tokenizer.piece(static_cast<int32_t>(id)));
  return texts;
}

}  // namespace

std::vector<AttentionGrid> attention_grids(TranslationModel& model, const TextCodec& codec,
                                           std::span<const int32_t> source, std::span<const int32_t> target) {
  const auto batch = batch_of(source, target, codec.options().source_markers);
  const auto read = pieces(codec.source(), batch.source), fed = pieces(codec.target(), batch.target_in),
             written = pieces(codec.target(), batch.target_out);
  std::vector<AttentionGrid> grids;
  for (const auto& map : model.attention_maps(to_tensors(batch, device_of(model)))) {
    const auto weights = map.weights[0].cpu().contiguous();  // [heads, queries, keys]
    const bool encoder = map.name.starts_with("encoder"), self = map.name.ends_with("self");
    const float* first = weights.const_data_ptr<float>();
    grids.push_back({.name = map.name,
                     .heads = weights.size(0),
                     .queries = encoder ? read
                                : self  ? fed
                                        : written,
                     .keys = encoder || !self ? read : fed,
                     .weights = {first, first + weights.numel()}});
  }
  return grids;
}

}  // namespace nmt
