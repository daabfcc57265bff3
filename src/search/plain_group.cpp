#include "search/plain_group.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

#include "search/plain_step.h"

namespace nmt {
namespace {

class PlainGroup final : public SearchGroup {
 public:
  PlainGroup(PlainTransformer& model, const SourceForm& source_form) : model_(model), source_form_(source_form) {}

  int64_t worker_limit() const override { return model_.threads(); }

  void search(int64_t workers, const std::function<void(DecodingModel&)>& work) override {
    const auto work_here = [&](ThreadPool* threads, int64_t helped) {
      PlainModel model(
          source_form_, model_.weights(), threads, [&](auto sentences, const auto& options, auto& results) {
            whole().search(helped,
                           [&](DecodingModel& whole_model) { whole_model.add_attention(sentences, options, results); });
          });
      work(model);
    };
    if (workers == 1 && model_.threads() > 1) return work_here(&search_threads(model_.threads()), 1);
    parallel_for(workers, 1, static_cast<int>(workers), [&](int64_t, int64_t) { work_here(nullptr, 0); });
  }

  bool has_alignment(const SearchOptions& options) override {
    const auto& config = model_.config();
    const int64_t layers = config.decoder_blocks.value_or(config.num_blocks);
    if (layers == 0) return false;
    check_alignment_head(options.alignment_head, config.num_heads);
    alignment_layer_of(options.alignment_layer, layers);
    return true;
  }

 private:
  SearchGroup& whole() {
    std::call_once(whole_is_made_, [this] {
      auto& model = model_.whole();
      const SearchMember only{.model = &model, .source_form = source_form_};
      whole_ = model.group({&only, 1});
    });
    return *whole_;
  }

  PlainTransformer& model_;
  SourceForm source_form_;
  std::once_flag whole_is_made_;
  std::unique_ptr<SearchGroup> whole_;
};

}  // namespace

ThreadPool& search_threads(int threads) {
  static std::mutex mutex;
  static auto* const pools = new std::map<int, ThreadPool*>;  // never destroyed: searches may outlive main()
  const std::lock_guard lock(mutex);
  ThreadPool*& pool = (*pools)[threads];
  if (!pool) pool = new ThreadPool(threads - 1);
  return *pool;
}

PlainTransformer::PlainTransformer(std::shared_ptr<const inference::TransformerWeights> weights,
                                   const ModelConfig& config, int threads,
                                   std::function<std::shared_ptr<SearchableModel>()> whole)
    : weights_(std::move(weights)), config_(config), threads_(threads), load_whole_(std::move(whole)) {}

LengthLimits PlainTransformer::limits() const {
  if (config_.positions != PositionKind::kLearned) return {};
  return {.source = config_.max_positions, .target = config_.max_positions};
}

std::unique_ptr<SearchGroup> PlainTransformer::group(std::span<const SearchMember> members) {
  return std::make_unique<PlainGroup>(*this, members.front().source_form);
}

SearchableModel& PlainTransformer::whole() {
  std::call_once(whole_is_loaded_, [this] { whole_ = load_whole_(); });
  return *whole_;
}

}  // namespace nmt
