#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "search/search_options.h"
#include "search/step.h"
#include "text/codec/codec.h"

namespace nmt {

/// Tokens of a sentence at most, with all that stands around its pieces.
struct LengthLimits {
  int64_t source = std::numeric_limits<int64_t>::max();
  int64_t target = std::numeric_limits<int64_t>::max();
};

/// The weights of an attention layer for one sentence, such as encoder.0.self or decoder.2.cross.
struct AttentionLayer {
  std::string name;
  int64_t heads = 0, queries = 0, keys = 0;
  std::vector<float> weights;  ///< [heads, queries, keys]
};

/// Models that search together: one, or an ensemble.
class SearchGroup {
 public:
  virtual ~SearchGroup() = default;
  /// Threads that search side by side, at most: on a CPU a batch a thread beats all threads on one batch, since the
  /// steps of a search are too small to share.
  virtual int64_t worker_limit() const = 0;
  /// Calls work in so many threads, each with a model of its own kind; returns when all are done, and rethrows what one
  /// of them throws. With 1 others help where a step is large enough; with 0 it is the calling thread without help.
  /// Throws std::bad_alloc where a device has no memory left.
  virtual void search(int64_t workers, const std::function<void(DecodingModel&)>& work) = 0;
  /// Whether the first model has attention to the source. Throws Error where it has, but not the layer or head of the
  /// options.
  virtual bool has_alignment(const SearchOptions& options) = 0;
};

/// The place of the layer of decoding.alignment_layer among the decoder's: from 0. Throws Error where it has no such
/// layer.
int64_t alignment_layer_of(int64_t layer, int64_t layers);
/// Throws Error where the decoder's layers have no such head (decoding.alignment_head).
void check_alignment_head(int64_t head, int64_t heads);

class SearchableModel;

/// A model that takes part in a search.
struct SearchMember {
  SearchableModel* model = nullptr;
  SourceForm source_form = {};
  double weight = 1;  ///< of its vote; weights are divided by their sum
};

/// What translating asks of a model, whether LibTorch computes it (src/models) or not (search/plain_group.h).
class SearchableModel {
 public:
  virtual ~SearchableModel() = default;
  /// How long sentences may be: tables of positions have an end.
  virtual LengthLimits limits() const { return {}; }
  virtual bool is_on_cpu() const { return true; }
  /// A search of these models, which are all of the kind of this one. Borrows the models.
  virtual std::unique_ptr<SearchGroup> group(std::span<const SearchMember> members) = 0;
  /// All attention layers by teacher forcing; none where a model has no attention. Ids are the tokens that it reads,
  /// special ones included.
  virtual std::vector<AttentionLayer> attention_layers(std::span<const int64_t> source,
                                                       std::span<const int64_t> target_in) = 0;
};

}  // namespace nmt
