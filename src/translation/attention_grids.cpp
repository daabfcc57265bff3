#include "translation/attention_grids.h"

#include <string>
#include <utility>

#include "text/codec/codec.h"

namespace nmt {
namespace {

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

/// Keys, and with `queries` queries too, of the source in the order of the text.
void reorder(AttentionLayer& layer, bool queries, const std::vector<int64_t>& order) {
  const auto old = layer.weights;
  auto to = layer.weights.begin();
  for (int64_t head = 0; head < layer.heads; ++head)
    for (int64_t query = 0; query < layer.queries; ++query) {
      const int64_t row = head * layer.queries + (queries ? order[query] : query);
      for (const int64_t key : order) *to++ = old[row * layer.keys + key];
    }
}

}  // namespace

std::vector<AttentionGrid> attention_grids(SearchableModel& model, const TextCodec& codec,
                                           std::span<const int32_t> source, std::span<const int32_t> target) {
  const auto form = codec.options().source_form();
  std::vector<int64_t> read_ids(source_length(std::ssize(source), form.markers)),
      fed_ids = {SpecialIds::kBegin}, written_ids(target.begin(), target.end());
  write_source(source, form, read_ids.data());
  fed_ids.insert(fed_ids.end(), target.begin(), target.end());
  written_ids.push_back(SpecialIds::kEnd);
  const auto order = text_order(std::ssize(source), form);
  const auto read = pieces(codec.source(), in_order(read_ids, order)), fed = pieces(codec.target(), fed_ids),
             written = pieces(codec.target(), written_ids);
  std::vector<AttentionGrid> grids;
  for (auto& layer : model.attention_layers(read_ids, fed_ids)) {
    const bool encoder = layer.name.starts_with("encoder"), self = layer.name.ends_with("self");
    if (form.reversed && (encoder || !self)) reorder(layer, encoder, order);
    grids.push_back({.name = layer.name,
                     .heads = layer.heads,
                     .queries = encoder ? read
                                : self  ? fed
                                        : written,
                     .keys = encoder || !self ? read : fed,
                     .weights = std::move(layer.weights)});
  }
  return grids;
}

}  // namespace nmt
