#include "translation/translator.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "translation/source_parts.h"

namespace nmt {
namespace {

/// Evaluation mode for one scope; restores what it found.
class EvalModeGuard {
 public:
  explicit EvalModeGuard(std::span<const TranslatorModel> models) {
    for (const auto& [model, codec, weight, lexicon] : models)
      if (model->is_training()) training_.push_back(model);
    for (auto* model : training_) model->eval();
  }
  ~EvalModeGuard() {
    for (auto* model : training_) model->train();
  }
  EvalModeGuard(const EvalModeGuard&) = delete;
  EvalModeGuard& operator=(const EvalModeGuard&) = delete;

 private:
  std::vector<TranslationModel*> training_;
};

/// The parts of a text, for searches in several threads: the longest first, so that sentences that are searched
/// together have little padding, and what needs most memory comes first.
class PartQueue final : public SearchQueue {
 public:
  PartQueue(std::vector<Translator::Part>& parts, int64_t lines, const TranslationCalls& calls)
      : parts_(parts), calls_(calls), order_(parts.size()), parts_left_(lines) {
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, std::ranges::greater(),
                             [&](int64_t part) { return parts[part].input.sources.front().size(); });
    for (const auto& part : parts) ++parts_left_[part.line];
    lines_done_ = std::ranges::count(parts_left_, 0);
  }

  std::vector<Item> take(int64_t count) override {
    const std::lock_guard lock(mutex_);
    std::vector<Item> items;
    for (; std::ssize(items) < count && next_ < order_.size(); ++next_)
      items.push_back({order_[next_], &parts_[order_[next_]].input});
    return items;
  }

  void finish(int64_t id, std::vector<Hypothesis> hypotheses) override {
    auto& part = parts_[id];
    part.hypotheses = std::move(hypotheses);
    const std::lock_guard lock(mutex_);
    if (--parts_left_[part.line] > 0) return;
    ++lines_done_;
    if (calls_.progress) calls_.progress(lines_done_);
  }

  bool stopped() override {
    if (calls_.stopped && calls_.stopped()) throw TranslationStopped();
    return false;
  }

  /// From now on there is nothing to take.
  void close() {
    const std::lock_guard lock(mutex_);
    next_ = order_.size();
  }

 private:
  std::vector<Translator::Part>& parts_;
  const TranslationCalls& calls_;
  std::mutex mutex_;  // of what follows
  std::vector<int64_t> order_;
  size_t next_ = 0;
  std::vector<int64_t> parts_left_;  // of each line
  int64_t lines_done_ = 0;
};

/// A vocabulary may hold line ends (byte fallback, user-defined symbols); an output line may not.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

bool is_unwritable(const std::vector<int32_t>& phrase) {
  return phrase.empty() || std::ranges::find(phrase, SpecialIds::kUnknown) != phrase.end();
}

Alternative to_alternative(const TextCodec& codec, const std::vector<int32_t>& source, Hypothesis hypothesis) {
  return {.text = one_line(codec.decode_target(hypothesis.ids)),
          .log_probability = hypothesis.log_probability,
          .coverage_penalty = hypothesis.coverage_penalty,
          .score = hypothesis.score,
          .tokens = std::ssize(hypothesis.token_log_probabilities),
          .finished = hypothesis.finished,
          .meets_constraints = hypothesis.meets_constraints,
          .token_log_probabilities = std::move(hypothesis.token_log_probabilities),
          .parts = {{.source = source,
                     .target = std::move(hypothesis.ids),
                     .finished = hypothesis.finished,
                     .attention = std::move(hypothesis.attention)}}};
}

void append(Alternative& whole, const Alternative& part) {
  if (!whole.text.empty() && !part.text.empty()) whole.text += ' ';
  whole.text += part.text;
  whole.log_probability += part.log_probability;
  whole.coverage_penalty += part.coverage_penalty;
  whole.tokens += part.tokens;
  whole.finished = whole.finished && part.finished;
  whole.meets_constraints = whole.meets_constraints && part.meets_constraints;
  whole.token_log_probabilities.insert(whole.token_log_probabilities.end(), part.token_log_probabilities.begin(),
                                       part.token_log_probabilities.end());
  whole.parts.insert(whole.parts.end(), part.parts.begin(), part.parts.end());
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
  for (size_t i = 0; i < count; ++i) append(whole[i], part[i]);
}

}  // namespace

void TranslatorOptions::validate() const {
  search.validate();
  if (batch_size < 1) throw Error(fmt::format("batch size {}: use 1 or more sentences", batch_size));
  if (shortlist < 0) throw Error(fmt::format("shortlist {}: use 1 or more candidates, or 0 for all pieces", shortlist));
  if (max_source_length < 1) throw Error(fmt::format("maximum source length {}: use 1 or more", max_source_length));
}

TranslatorOptions translator_options(const Config& config) {
  const DecodingConfig& decoding = config.decoding;
  TranslatorOptions options{.search = {.beam_size = decoding.beam_size,
                                       .length_penalty = decoding.length_penalty,
                                       .length_penalty_form = decoding.length_penalty_form,
                                       .max_length_ratio = decoding.max_length_ratio,
                                       .max_length_offset = decoding.max_length_offset,
                                       .max_length = decoding.max_length,
                                       .stopping = decoding.stopping,
                                       .min_length = decoding.min_length,
                                       .coverage_penalty = decoding.coverage_penalty,
                                       .diversity_groups = decoding.diversity_groups,
                                       .diversity_strength = decoding.diversity_strength,
                                       .no_repeat_ngram_size = decoding.no_repeat_ngram_size,
                                       .repetition_penalty = decoding.repetition_penalty,
                                       .ban_unknown = decoding.ban_unknown,
                                       .combination = decoding.combination,
                                       .alignment_layer = decoding.alignment_layer},
                            .banned_phrases = decoding.banned_phrases,
                            .batch_size = decoding.batch_size,
                            .shortlist = decoding.shortlist,
                            .shortlist_frequent = decoding.shortlist_frequent};
  if (decoding.sampling)
    options.search.sampling = {.temperature = decoding.temperature,
                               .top_k = decoding.top_k,
                               .top_p = decoding.top_p,
                               .seed = static_cast<uint64_t>(decoding.seed)};
  return options;
}

void limit_to(const TranslationModel& model, SourceMarkers markers, TranslatorOptions& options) {
  const LengthLimits limits = model.limits();
  auto& search = options.search;
  if (limits.target < std::numeric_limits<int64_t>::max())
    search.max_length = search.max_length > 0 ? std::min(search.max_length, limits.target) : limits.target;
  options.max_source_length =
      std::min(options.max_source_length, std::max<int64_t>(1, limits.source - marker_count(markers)));
}

Translator::Translator(TranslationModel& model, const TextCodec& codec, TranslatorOptions options)
    : Translator({{.model = &model, .codec = &codec}}, std::move(options)) {}

Translator::Translator(std::vector<TranslatorModel> models, TranslatorOptions options)
    : models_(std::move(models)), options_(std::move(options)) {
  options_.validate();
  for (const auto& [model, codec, weight, lexicon] : models_) {
    if (!(weight > 0) || !std::isfinite(weight)) throw Error(fmt::format("model weight {}: use more than 0", weight));
    limit_to(*model, codec->options().source_markers, options_);
    if (codec->prefix_length() >= options_.max_source_length)
      throw Error(fmt::format(
          "the model's source prefix '{}' has {} pieces, which leaves no room for a sentence of at most {}; "
          "allow longer ones",
          codec->options().source_prefix, codec->prefix_length(), options_.max_source_length));
    search_models_.push_back({.model = model, .source_form = codec->options().source_form(), .weight = weight});
    codecs_.push_back(codec);
  }
  if (options_.shortlist > 0) {
    const auto& lexicon = models_.front().lexicon;
    if (!lexicon) throw Error("decoding.shortlist: the model has no lexicon; leave it out");
    shortlist_.emplace(lexicon, codec(), options_.shortlist, options_.shortlist_frequent);
  }
  if (options_.split_sentences) sentences_.emplace(codec().options().source_language);
  for (const auto& phrase : options_.banned_phrases) {
    options_.search.banned.push_back(codec().encode_target(phrase));
    if (is_unwritable(options_.search.banned.back()))
      throw Error(
          fmt::format("banned phrase '{}': the vocabulary cannot write it, so no translation holds it; leave it "
                      "out",
                      phrase));
  }
}

/// The parts of a line that are searched one by one; says in `result` whether one of its sentences is in several.
std::vector<SourcePart> Translator::parts_of(std::string_view line, Translation& result) const {
  std::vector<SourcePart> parts;
  const auto sentences = sentences_ ? sentences_->split(line) : std::vector{line};
  for (const auto sentence : sentences) {
    auto own = encode_in_parts(codecs_, sentence, options_.max_source_length);
    result.split = result.split || own.size() > 1;
    std::ranges::move(own, std::back_inserter(parts));
  }
  return parts;
}

void Translator::add_constraints(const TranslationRequest& request, Part& part) const {
  for (const auto& phrase : request.must_not) {
    auto ids = codec().encode_target(phrase);
    if (!is_unwritable(ids)) part.input.banned.push_back(std::move(ids));  // else it never appears
  }
  if (part.input.part > 0) return;
  part.input.prefix = codec().encode_target(request.prefix);
  const int64_t limit = options_.search.max_length;  // leaves room for one more token
  if (limit > 0 && std::ssize(part.input.prefix) >= limit) part.input.prefix.resize(limit - 1);
  for (const auto& phrase : request.must) {
    auto ids = codec().encode_target(phrase);
    if (is_unwritable(ids)) {
      part.has_unwritable_phrase = true;
    } else {
      part.input.must_appear.push_back(std::move(ids));
    }
  }
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines, const TranslationCalls& calls,
                                               int64_t first_line) const {
  std::vector<TranslationRequest> requests;
  for (const auto& line : lines) requests.push_back({.source = line});
  return translate(requests, calls, first_line);
}

std::vector<Translation> Translator::translate(std::span<const TranslationRequest> requests,
                                               const TranslationCalls& calls, int64_t first_line) const {
  std::vector<Translation> results(requests.size());
  std::vector<Part> parts;
  for (int64_t line = 0; line < std::ssize(requests); ++line) {
    auto encoded = parts_of(requests[line].source, results[line]);
    for (int64_t i = 0; i < std::ssize(encoded); ++i) {
      results[line].source_tokens += std::ssize(encoded[i].front());
      parts.push_back(
          {.line = line, .input = {.sources = std::move(encoded[i]), .number = first_line + line, .part = i}});
      if (shortlist_) parts.back().input.candidates = shortlist_->candidates(parts.back().input.sources.front());
      add_constraints(requests[line], parts.back());
    }
  }
  search_parts(parts, std::ssize(requests), options_.search, calls);
  for (Part& part : parts) {
    std::vector<Alternative> own;
    for (auto& hypothesis : part.hypotheses) {
      own.push_back(to_alternative(codec(), part.input.sources.front(), std::move(hypothesis)));
      if (part.has_unwritable_phrase) own.back().meets_constraints = false;
    }
    append(results[part.line].alternatives, std::move(own));
  }
  for (auto& result : results) {
    if (result.alternatives.empty()) continue;
    if (result.alternatives.front().parts.size() > 1) {
      for (auto& whole : result.alternatives)
        whole.score = whole.log_probability / options_.search.penalty(whole.tokens) + whole.coverage_penalty;
    }
    result.text = result.alternatives.front().text;
    result.target_tokens = result.alternatives.front().tokens;
  }
  return results;
}

std::vector<Alternative> Translator::score(std::span<const TextPair> pairs, const TranslationCalls& calls) const {
  if (shortlist_)
    throw Error(
        "--score: a score is over the whole vocabulary; leave out --shortlist (--shortlist 0 where the model's "
        "own options have it)");
  SearchOptions forced = options_.search;
  forced.beam_size = forced.n_best = forced.diversity_groups = 1;
  forced.sampling.reset();
  std::vector<Alternative> results(pairs.size());
  std::vector<Part> parts;
  for (int64_t line = 0; line < std::ssize(pairs); ++line) {
    SearchInput input{.prefix = codec().encode_target(pairs[line].target)};
    const auto shorten = [&](std::vector<int32_t>& ids, int64_t length) {
      if (std::ssize(ids) <= length) return;
      ids.resize(length);
      results[line].shortened = true;
    };
    if (forced.max_length > 0) shorten(input.prefix, forced.max_length - 1);
    input.prefix.push_back(SpecialIds::kEnd);
    for (const auto* own : codecs_) {
      input.sources.push_back(own->encode_source(strip(pairs[line].source)));
      shorten(input.sources.back(), options_.max_source_length);
    }
    if (input.sources.front().empty() && input.prefix.size() == 1) continue;
    parts.push_back({.line = line, .input = std::move(input)});
  }
  search_parts(parts, std::ssize(pairs), forced, calls);
  for (Part& part : parts) {
    const bool shortened = results[part.line].shortened;
    results[part.line] = to_alternative(codec(), part.input.sources.front(), std::move(part.hypotheses.front()));
    results[part.line].shortened = shortened;
  }
  for (size_t line = 0; line < pairs.size(); ++line) results[line].text = pairs[line].target;
  return results;
}

void Translator::search_parts(std::vector<Part>& parts, int64_t lines, const SearchOptions& options,
                              const TranslationCalls& calls) const {
  const c10::NoGradGuard no_gradients;
  const EvalModeGuard evaluation(models_);
  // On the CPU a batch a thread beats all threads on one batch: the steps of a search are too small to share.
  const int64_t threads = device_of(*models_.front().model).is_cpu() ? at::get_num_threads() : 1;
  const int64_t even_share = (std::ssize(parts) + threads - 1) / threads;
  const int64_t batch_size = std::clamp<int64_t>(even_share, 1, options_.batch_size);
  PartQueue queue(parts, lines, calls);
  const auto work = [&] {
    const c10::NoGradGuard no_gradients;
    try {
      search(search_models_, queue, batch_size, options);
    } catch (...) {
      queue.close();  // the other threads end, too
      throw;
    }
  };
  const int64_t workers = std::min(threads, (std::ssize(parts) + batch_size - 1) / batch_size);
  if (workers <= 1) return work();
  at::parallel_for(0, workers, 1, [&](int64_t, int64_t) { work(); });
}

}  // namespace nmt
