#include "decoding/translator.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "decoding/source_parts.h"

namespace nmt {
namespace {

/// Evaluation mode for one scope; restores what it found.
class EvalModeGuard {
 public:
  explicit EvalModeGuard(TranslationModel& model) : model_(model), was_training_(model.is_training()) {
    if (was_training_) model_.eval();
  }
  ~EvalModeGuard() {
    if (was_training_) model_.train();
  }
  EvalModeGuard(const EvalModeGuard&) = delete;
  EvalModeGuard& operator=(const EvalModeGuard&) = delete;

 private:
  TranslationModel& model_;
  bool was_training_;
};

/// Part numbers, the longest first: a batch has little padding, and what needs most memory comes first.
std::vector<int64_t> by_length(const std::vector<Translator::Part>& parts) {
  std::vector<int64_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return parts[a].ids.size() > parts[b].ids.size(); });
  return order;
}

/// A vocabulary may hold line ends (byte fallback, user-defined symbols); an output line may not.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// Joins the alternatives of a line's next part. A part with fewer of them gives its last one to those that it lacks.
void append(std::vector<Alternative>& whole, std::vector<Alternative> part) {
  if (whole.empty()) {
    whole = std::move(part);
    return;
  }
  const size_t count = std::max(whole.size(), part.size());
  whole.resize(count, Alternative(whole.back()));
  part.resize(count, Alternative(part.back()));
  for (size_t i = 0; i < count; ++i) {
    if (!whole[i].text.empty() && !part[i].text.empty()) whole[i].text += ' ';
    whole[i].text += part[i].text;
    whole[i].log_probability += part[i].log_probability;
    whole[i].tokens += part[i].tokens;
    whole[i].finished = whole[i].finished && part[i].finished;
  }
}

}  // namespace

void TranslatorOptions::validate() const {
  search.validate();
  if (batch_size < 1) throw Error(fmt::format("batch size {}: use 1 or more sentences", batch_size));
  if (max_source_length < 1) throw Error(fmt::format("maximum source length {}: use 1 or more", max_source_length));
}

TranslatorOptions translator_options(const Config& config) {
  const DecodingConfig& decoding = config.decoding;
  TranslatorOptions options{.search = {.beam_size = decoding.beam_size,
                                       .length_penalty = decoding.length_penalty,
                                       .length_penalty_form = parse_length_penalty(decoding.length_penalty_form),
                                       .max_length_ratio = decoding.max_length_ratio,
                                       .max_length_offset = decoding.max_length_offset},
                            .batch_size = decoding.batch_size};
  const bool learned = config.model.positions == "learned" || config.model.positions == "product";
  const bool by_location = config.model.architecture == "recurrent" && config.model.attention_score == "location";
  if (learned) options.search.max_length = config.model.max_positions;
  if (learned || by_location) {
    const int64_t markers = marker_count(parse_source_markers(config.data.source_markers));
    const int64_t room = std::max<int64_t>(1, config.model.max_positions - markers);  // they have positions, too
    options.max_source_length = std::min(options.max_source_length, room);
  }
  return options;
}

Translator::Translator(TranslationModel& model, const TextCodec& codec, TranslatorOptions options)
    : model_(model), codec_(codec), options_(options) {
  options_.validate();
  options_.search.source_markers = codec_.options().source_markers;
}

Alternative Translator::to_alternative(const Hypothesis& hypothesis) const {
  return {.text = one_line(codec_.decode_target(hypothesis.ids)),
          .log_probability = hypothesis.log_probability,
          .score = hypothesis.score,
          .tokens = std::ssize(hypothesis.ids) + (hypothesis.finished ? 1 : 0),
          .finished = hypothesis.finished};
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines,
                                               const std::function<void(int64_t)>& progress) const {
  const c10::InferenceMode inference;
  const EvalModeGuard evaluation(model_);
  std::vector<Translation> results(lines.size());
  std::vector<Part> parts;
  for (int64_t line = 0; line < std::ssize(lines); ++line) {
    auto encoded = encode_in_parts(codec_, lines[line], options_.max_source_length);
    results[line].split = encoded.size() > 1;
    for (auto& ids : encoded) {
      results[line].source_tokens += std::ssize(ids);
      parts.push_back({line, std::move(ids), {}});
    }
  }
  search_parts(parts, std::ssize(lines), progress);
  for (const Part& part : parts) {
    std::vector<Alternative> own;
    for (const auto& hypothesis : part.hypotheses) own.push_back(to_alternative(hypothesis));
    append(results[part.line].alternatives, std::move(own));
  }
  for (auto& result : results) {
    if (result.alternatives.empty()) continue;
    if (result.split) {
      for (auto& whole : result.alternatives)
        whole.score = whole.log_probability / options_.search.penalty(whole.tokens);
    }
    result.text = result.alternatives.front().text;
    result.target_tokens = result.alternatives.front().tokens;
  }
  return results;
}

void Translator::search_parts(std::vector<Part>& parts, int64_t lines,
                              const std::function<void(int64_t)>& progress) const {
  // On the CPU a batch a thread beats all threads on one batch: the steps of a search are too small to share.
  const int64_t threads = device_of(model_).is_cpu() ? at::get_num_threads() : 1;
  const int64_t even_share = (std::ssize(parts) + threads - 1) / threads;
  const auto order = by_length(parts);
  const int64_t batch_size = std::clamp<int64_t>(even_share, 1, options_.batch_size);
  const int64_t batches = (std::ssize(order) + batch_size - 1) / batch_size;

  std::mutex mutex;  // of what follows
  int64_t next_batch = 0;
  std::vector<int64_t> parts_left(lines);
  for (const Part& part : parts) ++parts_left[part.line];
  int64_t lines_done = std::count(parts_left.begin(), parts_left.end(), 0);

  const auto take_batch = [&]() -> std::span<const int64_t> {
    const std::lock_guard lock(mutex);
    if (next_batch == batches) return {};
    const auto rest = std::span(order).subspan(next_batch++ * batch_size);
    return rest.first(std::min<size_t>(rest.size(), batch_size));
  };
  const auto finish_batch = [&](std::span<const int64_t> batch) {
    const std::lock_guard lock(mutex);
    for (const int64_t part : batch) lines_done += --parts_left[parts[part].line] == 0;
    if (progress) progress(lines_done);
  };
  const auto work = [&] {
    const c10::InferenceMode inference;
    try {
      for (auto batch = take_batch(); !batch.empty(); batch = take_batch()) {
        search_batch(parts, batch);
        finish_batch(batch);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      next_batch = batches;  // the other threads end, too
      throw;
    }
  };
  const int64_t workers = std::min(threads, batches);
  if (workers <= 1) return work();
  at::parallel_for(0, workers, 1, [&](int64_t, int64_t) { work(); });
}

void Translator::search_batch(std::vector<Part>& parts, std::span<const int64_t> batch) const {
  std::vector<std::vector<int32_t>> sources;
  for (const int64_t part : batch) sources.push_back(parts[part].ids);
  auto found = search(model_, sources, options_.search);
  for (size_t i = 0; i < batch.size(); ++i) parts[batch[i]].hypotheses = std::move(found[i]);
}

}  // namespace nmt
