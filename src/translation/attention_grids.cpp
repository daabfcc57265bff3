#include "translation/attention_grids.h"

#include <algorithm>
#include <string>

#include "search/torch_step.h"
#include "text/codec/codec.h"

namespace nmt {
namespace {

Batch batch_of(std::span<const int32_t> source, std::span<const int32_t> target, const SourceForm& form) {
  const int64_t source_width = source_length(std::ssize(source), form.markers), target_width = std::ssize(target) + 1;
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
  write_source(source, form, batch.source.data());
  batch.target_in.insert(batch.target_in.end(), target.begin(), target.end());
  batch.target_out.push_back(SpecialIds::kEnd);
  return batch;
}

std::vector<int64_t> in_order(const std::vector<int64_t>& ids, const std::vector<int64_t>& order) {
  std::vector<int64_t> sorted;
  for (const int64_t place : order) sorted.push_back(ids[place]);
  return sorted;
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::vector<int64_t>& ids) {
  std::vector<std::string> texts;
  for (const int64_t id : ids) texts.push_back(tokenizer.piece(static_cast<int32_t>(id)));
  return texts;
}

}  // namespace

std::vector<AttentionGrid> attention_grids(TranslationModel& model, const TextCodec& codec,
                                           std::span<const int32_t> source, std::span<const int32_t> target) {
  const auto form = codec.options().source_form();
  const auto batch = batch_of(source, target, form);
  const auto order = text_order(std::ssize(source), form);
  const auto read = pieces(codec.source(), in_order(batch.source, order)),
             fed = pieces(codec.target(), batch.target_in), written = pieces(codec.target(), batch.target_out);
  std::vector<AttentionGrid> grids;
  for (const auto& map : model.attention_maps(to_tensors(batch, device_of(model)))) {
    auto weights = map.weights[0].cpu().contiguous();  // [heads, queries, keys]
    const bool encoder = map.name.starts_with("encoder"), self = map.name.ends_with("self");
    if (form.reversed && (encoder || !self)) weights = weights.index_select(2, torch::tensor(order)).contiguous();
    if (form.reversed && encoder) weights = weights.index_select(1, torch::tensor(order)).contiguous();
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
