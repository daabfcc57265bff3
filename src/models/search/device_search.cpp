#include "models/search/device_search.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "nn/device/device.h"
#include "nn/device/recorded_graph.h"
#include "search/step_scores.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

constexpr int64_t kFewestSentences = 8;  // of a recorded step

/// Sentences that another search takes, until the queue that they come from is stopped.
class LeftQueue final : public SearchQueue {
 public:
  LeftQueue(std::vector<Handle> handles, SearchQueue& from) : handles_(std::move(handles)), from_(from) {}
  std::vector<Handle> take(int64_t count) override {
    const auto end = handles_.begin() + std::min(count, std::ssize(handles_));
    std::vector<Handle> taken(std::make_move_iterator(handles_.begin()), std::make_move_iterator(end));
    handles_.erase(handles_.begin(), end);
    return taken;
  }
  int64_t waiting() const override { return std::ssize(handles_); }
  bool stopped() override { return from_.stopped(); }

 private:
  std::vector<Handle> handles_;
  SearchQueue& from_;
};

template <typename T>
torch::Tensor to_tensor(const std::vector<T>& values, at::IntArrayRef sizes, torch::Device device) {
  return copy_to_device(torch::tensor(values, c10::CppTypeToScalarType<T>::value).view(sizes), device);
}

}  // namespace

/// What a search keeps on the device, and its recorded steps. Serves one search after the other.
class DeviceSearch::Memory {
 public:
  Memory(const SearchWeights& weights, int64_t sentences, int64_t beam, Stopping stopping)
      : beams(BeamTensors::make(sentences, beam, weights.positions.size(0), weights.table.device())),
        steps(beams.totals.device()) {
    beams.stopping = stopping;
    for (size_t i = 0; i < weights.layers.size(); ++i)
      caches.push_back(at::zeros({beams.capacity(), sentences * beam, 2 * weights.width}, weights.table.options()));
    source_keys_and_values =
        at::zeros({sentences * kSourceWords, weights.source_keys_and_values.weight.size(0)}, weights.table.options());
  }

  int64_t sentences() const { return beams.sentences.size(0); }
  bool fits(int64_t sentences_wanted, int64_t beam, Stopping stopping) const {
    return sentences() == sentences_wanted && beams.beam == beam && beams.stopping == stopping;
  }

  BeamTensors beams;
  std::vector<torch::Tensor> caches;     // of each layer [capacity, rows, 2 width]
  torch::Tensor source_keys_and_values;  // [sentences * kSourceWords, layers * 2 width]
  RecordedGraph steps;                   // by the number of sentences
};

/// A search under way.
class DeviceSearch::Run {
 public:
  Run(DeviceSearch& owner, Memory& memory, SearchQueue& queue, const SearchOptions& options)
      : owner_(owner), memory_(memory), queue_(queue), options_(options), places_(memory.sentences()) {
    std::vector<double> penalties;
    for (int64_t tokens = 0; tokens <= memory.beams.capacity(); ++tokens) penalties.push_back(options.penalty(tokens));
    memory.beams.penalties.copy_(torch::tensor(penalties, torch::kFloat64));
    memory.beams.sentences.zero_();
    memory.beams.positions.zero_();
  }

  void run(const std::function<void(SearchQueue&)>& others) {
    while (!queue_.stopped()) {
      auto left = fill();
      if (!left.empty()) {
        LeftQueue rest(std::move(left), queue_);
        others(rest);
        continue;
      }
      if (active() == 0) {
        if (!queue_.wait()) return;
        continue;
      }
      const int64_t count = steps_for(last_place());
      for (int64_t i = 0; i < kSteps; ++i) memory_.steps.run([&] { owner_.step(memory_, count); }, count);
      give_back();
    }
  }

 private:
  using Handle = SearchQueue::Handle;

  int64_t active() const {
    return std::ranges::count_if(places_, [](const auto& place) { return place != nullptr; });
  }
  // Behind the last sentence.
  int64_t last_place() const {
    int64_t end = std::ssize(places_);
    while (end > 0 && !places_[end - 1]) --end;
    return end;
  }
  // Halves of all places: few recorded steps serve any number of sentences.
  int64_t steps_for(int64_t wanted) const {
    int64_t count = std::ssize(places_);
    while (count >= 2 * kFewestSentences && (count + 1) / 2 >= wanted) count = (count + 1) / 2;
    return count;
  }

  std::vector<Handle> fill();
  void start(std::vector<std::unique_ptr<Handle>> taken);
  void move_together();
  void give_back();
  std::vector<Hypothesis> results_of(int64_t place, int64_t at);
  Hypothesis hypothesis(int64_t at, int64_t row, int64_t length, double total) const;

  DeviceSearch& owner_;
  Memory& memory_;
  SearchQueue& queue_;
  const SearchOptions& options_;
  std::vector<std::unique_ptr<Handle>> places_;         // null: free
  torch::Tensor sentences_, history_, ended_, totals_;  // on the host; the last three of sentences that are done
};

/// Sentences that are not for this search.
std::vector<SearchQueue::Handle> DeviceSearch::Run::fill() {
  const int64_t wanted = std::ssize(places_) - active();
  // Encoding takes hundreds of launches, so several start together.
  if (4 * wanted < std::ssize(places_)) return {};
  std::vector<Handle> left;
  std::vector<std::unique_ptr<Handle>> taken;
  auto all = queue_.take(wanted);
  const bool more = std::ssize(all) == wanted;
  for (auto& handle : all) {
    if (owner_.takes(handle.request(), options_)) {
      taken.push_back(std::make_unique<Handle>(std::move(handle)));
    } else {
      left.push_back(std::move(handle));
    }
  }
  if (!taken.empty()) start(std::move(taken));
  if (!more) move_together();
  return left;
}

void DeviceSearch::Run::start(std::vector<std::unique_ptr<Handle>> taken) {
  auto& beams = memory_.beams;
  const auto device = beams.totals.device();
  const int64_t count = std::ssize(taken), beam = beams.beam;
  std::vector<int64_t> at, rows, source_rows;
  std::vector<int32_t> states, sources;
  std::vector<double> totals, ended;
  std::vector<const std::vector<int32_t>*> texts;
  for (const auto& handle : taken) texts.push_back(&handle->request().sources.front());
  const auto source = to_source_tensors(texts, owner_.model_.source_form, device);
  const int64_t width = source.ids.size(1);
  int64_t place = 0;
  for (int64_t i = 0; i < count; ++i, ++place) {
    while (places_[place]) ++place;
    const SearchInput& input = taken[i]->request();
    const int64_t limit = options_.length_limit(std::ssize(input.sources.front()));
    const int64_t n_best = input.n_best > 0 ? std::min(input.n_best, beam) : options_.n_best;
    at.push_back(place);
    states.insert(states.end(), {kRunning, 0, static_cast<int32_t>(limit), static_cast<int32_t>(n_best), 0, 0, 0, 0});
    sources.push_back(static_cast<int32_t>(place * kSourceWords));
    sources.push_back(static_cast<int32_t>(source.lengths.const_data_ptr<int64_t>()[i]));
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    for (int64_t row = 0; row < beam; ++row) {
      rows.push_back(place * beam + row);
      totals.push_back(row == 0 ? 0 : kNothing);
      ended.insert(ended.end(), {kNothing, 0, 0, kNoArrival + static_cast<double>(row), 0});
    }
    for (int64_t word = 0; word < width; ++word) source_rows.push_back(place * kSourceWords + word);
    places_[place] = std::move(taken[i]);
  }
  const auto& [weight, bias] = owner_.weights_->source_keys_and_values;
  const auto memory = owner_.model_.model->encoder_output(source.ids, source.lengths);  // [count, source, width]
  memory_.source_keys_and_values.index_copy_(0, to_tensor(source_rows, {-1}, device),
                                             at::linear(memory, weight, bias).flatten(0, 1));
  const auto row = to_tensor(rows, {-1}, device), sentence = to_tensor(at, {-1}, device);
  beams.sentences.index_copy_(0, sentence, to_tensor(states, {count, kSentenceColumns}, device));
  beams.sources.index_copy_(0, sentence, to_tensor(sources, {count, 2}, device));
  beams.totals.index_copy_(0, row, to_tensor(totals, {-1}, device));
  beams.ended.index_copy_(0, row, to_tensor(ended, {-1, kEndedColumns}, device));
  beams.words.index_fill_(0, row, SpecialIds::kBegin);
  beams.positions.index_fill_(0, row, 0);
}

/// The last sentences into free places before them, where a step of fewer rows is then enough.
void DeviceSearch::Run::move_together() {
  const int64_t count = active(), wanted = steps_for(count);
  if (count == 0 || wanted == steps_for(last_place())) return;
  std::vector<int64_t> from, to;
  for (int64_t place = 0, last = std::ssize(places_) - 1; last >= wanted; --last) {
    if (!places_[last]) continue;
    while (places_[place]) ++place;
    from.push_back(last);
    to.push_back(place);
    std::swap(places_[place], places_[last]);
  }
  auto& beams = memory_.beams;
  const auto device = beams.totals.device();
  const auto spread = [&](const std::vector<int64_t>& places, int64_t each) {
    std::vector<int64_t> rows;
    for (const int64_t place : places)
      for (int64_t i = 0; i < each; ++i) rows.push_back(place * each + i);
    return to_tensor(rows, {-1}, device);
  };
  const auto move = [&](const torch::Tensor& x, int64_t dim, int64_t each) {
    x.index_copy_(dim, spread(to, each), x.index_select(dim, spread(from, each)));
  };
  for (const auto& x : {beams.totals, beams.words, beams.positions, beams.ancestors, beams.history, beams.ended})
    move(x, 0, beams.beam);
  for (const auto& cache : memory_.caches) move(cache, 1, beams.beam);
  move(memory_.source_keys_and_values, 0, kSourceWords);
  move(beams.sentences, 0, 1);
  move(beams.sources, 0, 1);
  // Rows and sources have other numbers now.
  const auto shifts = [&](int64_t each, int64_t copies) {
    std::vector<int32_t> by;
    for (size_t i = 0; i < to.size(); ++i) by.insert(by.end(), copies, static_cast<int32_t>((to[i] - from[i]) * each));
    return to_tensor(by, {-1}, device);
  };
  beams.ancestors.index_add_(0, spread(to, beams.beam),
                             shifts(beams.beam, beams.beam).unsqueeze(1).expand({-1, beams.capacity()}));
  beams.sources.select(1, 0).index_add_(0, spread(to, 1), shifts(kSourceWords, 1));
  beams.sentences.index_fill_(0, spread(from, 1), kIdle);
}

/// Sentences that are done leave their places.
void DeviceSearch::Run::give_back() {
  auto& beams = memory_.beams;
  sentences_ = beams.sentences.cpu();
  std::vector<int64_t> done, dropped;
  int64_t longest = 1;
  for (int64_t place = 0; place < std::ssize(places_); ++place) {
    if (!places_[place]) continue;
    const auto* state = sentences_.const_data_ptr<int32_t>() + place * kSentenceColumns;
    if (state[kStatus] == kDamaged) fail_on_logits();
    if (places_[place]->cancelled()) {
      dropped.push_back(place);
      places_[place].reset();
    } else if (state[kStatus] == kDone) {
      done.push_back(place);
      longest = std::max<int64_t>(longest, state[kLength]);
    }
  }
  const auto device = beams.totals.device();
  if (!dropped.empty()) beams.sentences.index_fill_(0, to_tensor(dropped, {-1}, device), kIdle);
  if (done.empty()) return;
  const auto chosen = to_tensor(done, {-1}, device);
  const auto of_done = [&](const torch::Tensor& x) {
    return x.unflatten(0, {-1, beams.beam}).index_select(0, chosen).cpu().contiguous();
  };
  history_ = of_done(beams.history.narrow(1, 0, longest));
  ended_ = of_done(beams.ended);
  totals_ = of_done(beams.totals);
  for (size_t i = 0; i < done.size(); ++i) {
    auto handle = std::move(places_[done[i]]);
    handle->finish(results_of(done[i], static_cast<int64_t>(i)));
  }
}

std::vector<Hypothesis> DeviceSearch::Run::results_of(int64_t place, int64_t at) {
  const int64_t beam = memory_.beams.beam;
  const auto* state = sentences_.const_data_ptr<int32_t>() + place * kSentenceColumns;
  std::vector<const double*> finished;
  for (int64_t row = 0; row < beam; ++row) {
    const double* one = ended_.const_data_ptr<double>() + (at * beam + row) * kEndedColumns;
    if (one[kArrival] < kNoArrival) finished.push_back(one);
  }
  std::ranges::sort(finished, {}, [](const double* one) { return std::pair(-one[kScore], one[kArrival]); });
  std::vector<Hypothesis> results;
  const auto is_full = [&] { return std::ssize(results) == state[kWanted]; };
  for (const double* one : finished) {
    if (is_full()) return results;
    const auto length = static_cast<int64_t>(one[kArrival]) / kRanksOfStep;
    auto& found = results.emplace_back(hypothesis(at, static_cast<int64_t>(one[kParent]), length, one[kTotal]));
    found.score = one[kScore];
    found.token_log_probabilities.push_back(static_cast<float>(one[kEndLogProbability]));
  }
  for (int64_t row = 0; row < state[kLive] && !is_full(); ++row) {
    const double total = totals_.const_data_ptr<double>()[at * beam + row];
    auto& cut = results.emplace_back(hypothesis(at, row, state[kLength], total));
    cut.finished = false;
    cut.score = state[kLength] > 0 ? total / options_.penalty(state[kLength]) : 0;
  }
  return results;
}

/// The words that led to a row, followed back.
Hypothesis DeviceSearch::Run::hypothesis(int64_t at, int64_t row, int64_t length, double total) const {
  Hypothesis found{.ids = std::vector<int32_t>(length),
                   .log_probability = total,
                   .token_log_probabilities = std::vector<float>(length)};
  const int64_t kept = history_.size(2);
  for (int64_t step = length - 1; step >= 0; --step) {
    const auto* entry = history_.const_data_ptr<int32_t>() + ((at * memory_.beams.beam + row) * kept + step) * 3;
    found.ids[step] = entry[0];
    row = entry[1];
    found.token_log_probabilities[step] = std::bit_cast<float>(entry[2]);
  }
  return found;
}

DeviceSearch::DeviceSearch(const SearchModel& model, std::shared_ptr<const SearchWeights> weights,
                           std::unique_ptr<SearchOperations> operations)
    : model_(model), weights_(std::move(weights)), operations_(std::move(operations)) {}

DeviceSearch::~DeviceSearch() = default;

bool DeviceSearch::supports(const SearchOptions& options) {
  return options.beam_size <= kMostBeams && !options.sampling && options.diversity_groups == 1 &&
         options.coverage_penalty == 0 && !options.attention && options.min_length == 0 &&
         options.no_repeat_ngram_size == 0 && options.repetition_penalty == 1 && !options.ban_unknown &&
         options.banned.empty() && options.rules.empty();
}

bool DeviceSearch::takes(const SearchInput& input, const SearchOptions& options) const {
  const auto pieces = std::ssize(input.sources.front());
  return input.prefix.empty() && input.must_appear.empty() && input.banned.empty() && input.candidates.empty() &&
         !input.attention && !input.distinct && input.no_repeat_ngram_size == 0 &&
         source_length(pieces, model_.source_form.markers) <= kSourceWords &&
         options.length_limit(pieces) <= weights_->positions.size(0);
}

void DeviceSearch::search(SearchQueue& queue, int64_t batch_size, const SearchOptions& options,
                          const std::function<void(SearchQueue&)>& others) {
  std::unique_ptr<Memory> memory;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        free_, [&](const auto& one) { return one->fits(batch_size, options.beam_size, options.stopping); });
    if (found != free_.end()) memory = std::move(*found);
    free_.clear();  // of other sizes
  }
  if (!memory) memory = std::make_unique<Memory>(*weights_, batch_size, options.beam_size, options.stopping);
  Run(*this, *memory, queue, options).run(others);
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(memory));
}

/// A word of each hypothesis of the first sentences.
void DeviceSearch::step(Memory& memory, int64_t sentences) const {
  const auto& w = *weights_;
  auto& operations = *operations_;
  const auto beams = memory.beams.first(sentences);
  // The sum of the residual way, and what products read.
  Normalised x;
  const auto add = [&](const torch::Tensor& r, const torch::Tensor& bias, const SearchNorm& norm) {
    x = operations.normalise(w.pre_norm ? x.sum : x.normal, r, bias, norm);
  };
  x.normal = operations.embed(beams, w.table, w.positions, std::sqrt(static_cast<double>(w.width)));
  if (w.pre_norm) x = operations.normalise(x.normal, {}, {}, w.first);
  for (size_t i = 0; i < w.layers.size(); ++i) {
    const auto& layer = w.layers[i];
    const auto qkv = at::linear(x.normal, layer.qkv.weight, layer.qkv.bias);
    const auto past = operations.attend_to_past(qkv, memory.caches[i], beams, w.heads);
    add(at::linear(past, layer.self_output.weight), layer.self_output.bias, layer.after_self);
    const auto q = at::linear(x.normal, layer.query.weight, layer.query.bias);
    const auto own = memory.source_keys_and_values.narrow(1, static_cast<int64_t>(i) * 2 * w.width, 2 * w.width);
    const auto source = operations.attend_to_source(q, own, beams, w.heads);
    add(at::linear(source, layer.source_output.weight), layer.source_output.bias, layer.after_source);
    const auto inner = at::_addmm_activation(layer.inner.bias, x.normal, layer.inner.weight.t());
    add(at::linear(inner, layer.outer.weight), layer.outer.bias, layer.after_feed_forward);
  }
  operations.choose(at::linear(x.normal, w.output.weight, w.output.bias), w.vocabulary, beams);
}

}  // namespace nmt
