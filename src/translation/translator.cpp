#include "translation/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/unicode.h"
#include "search/logits_rules.h"
#include "search/plain_group.h"
#include "text/codec/language_tags.h"
#include "text/placeholders.h"
#include "translation/lines/loops.h"
#include "translation/ready_models.h"

namespace nmt {
namespace {

bool is_unwritable(const std::vector<int32_t>& phrase) {
  return phrase.empty() || std::ranges::find(phrase, SpecialIds::kUnknown) != phrase.end();
}

std::string out_of_memory_message(int64_t batch_size, int64_t beam_size) {
  if (batch_size > 1)
    return fmt::format("out of memory in a search of up to {} sentences at a time; lower decoding.batch_size",
                       batch_size);
  if (beam_size > 1)
    return fmt::format("out of memory in the search for one sentence with {} hypotheses; lower decoding.beam_size",
                       beam_size);
  return "out of memory in the search for one sentence; a shorter one takes less";
}

}  // namespace

void TranslatorOptions::validate() const {
  search.validate();
  if (search.batch_size < 1) throw Error(fmt::format("batch size {}: use 1 or more sentences", search.batch_size));
  if (search.shortlist < 0)
    throw Error(fmt::format("shortlist {}: use 1 or more candidates, or 0 for all pieces", search.shortlist));
  if (max_source_length < 1) throw Error(fmt::format("maximum source length {}: use 1 or more", max_source_length));
}

void limit_to(const SearchableModel& model, SourceMarkers markers, TranslatorOptions& options) {
  const LengthLimits limits = model.limits();
  auto& search = options.search;
  if (limits.target < std::numeric_limits<int64_t>::max())
    search.max_length = search.max_length > 0 ? std::min(search.max_length, limits.target) : limits.target;
  options.max_source_length =
      std::min(options.max_source_length, std::max<int64_t>(1, limits.source - marker_count(markers)));
}

void require_model_weight(double weight) {
  if (!(weight > 0) || !std::isfinite(weight))
    throw Error(fmt::format("model weight {}: use a finite number above 0", weight));
}

Translator::Translator(SearchableModel& model, const TextCodec& codec, TranslatorOptions options)
    : Translator({{.model = &model, .codec = &codec}}, std::move(options)) {}

Translator::Translator(std::vector<TranslatorModel> models, TranslatorOptions options)
    : models_(std::move(models)),
      sentences_(models_.front().codec->options().source_language),
      options_(std::move(options)) {
  options_.validate();
  auto& search = options_.search;
  wanted_ = search.n_best;
  if (search.mbr != RiskUtility::kNone) search.n_best = search.sampling ? search.mbr_samples : search.beam_size;
  for (auto& one : models_)
    one.codec = &tagged_.emplace_back(between_languages(*one.codec, search.source_language, search.target_language));
  sentences_ = SentenceSplitter(codec().options().source_language);
  if (const auto tag = codec().target_tag()) search.rules.push_back(std::make_shared<GivenFirstToken>(*tag));
  std::vector<SearchMember> members;
  for (const auto& [model, codec, weight, lexicon] : models_) {
    require_model_weight(weight);
    limit_to(*model, codec->options().source_markers, options_);
    if (codec->prefix_length() >= options_.max_source_length)
      throw Error(fmt::format(
          "the model's source prefix '{}' has {} pieces, which leaves no room for a sentence of at most {}; "
          "allow longer ones",
          codec->options().source_prefix, codec->prefix_length(), options_.max_source_length));
    members.push_back({.model = model, .source_form = codec->options().source_form(), .weight = weight});
    codecs_.push_back(codec);
  }
  group_ = models_.front().model->group(members);
  if (search.alignment_layer > 0 || search.alignment_head > 0) aligns();  // the model has to have them
  if (options_.search.shortlist > 0) {
    const auto& lexicon = models_.front().lexicon;
    if (!lexicon) throw Error("decoding.shortlist: the model has no lexicon; leave it out");
    shortlist_.emplace(lexicon, codec(), options_.search.shortlist, options_.search.shortlist_frequent);
  }
  if (const auto& own = options_.search.placeholders; !own.empty())
    options_.terms.patterns = std::make_shared<const PlaceholderPatterns>(own);
  for (const auto& phrase : options_.search.banned_phrases) {
    options_.search.banned.push_back(codec().encode_target(phrase));
    if (is_unwritable(options_.search.banned.back()))
      throw Error(
          fmt::format("banned phrase '{}': the vocabulary cannot write it, so no translation holds it; leave it "
                      "out",
                      phrase));
  }
}

/// The parts of a line that are searched one by one; says in `result` whether one of its sentences is in several.
std::vector<SourcePart> Translator::parts_of(std::string_view line, bool split, const std::function<bool()>& stopped,
                                             Translation& result) const {
  std::vector<SourcePart> parts;
  auto tag = leading_tag(codec(), line);
  if (!tag.text.empty() && std::ssize(codec().encode_source(tag.text)) >= options_.max_source_length) tag = {};
  if (!tag.text.empty()) line = line.substr(tag.text.data() + tag.text.size() - line.data());
  const auto sentences = split ? sentences_.split(line) : std::vector{line};
  for (const auto sentence : sentences) {
    auto own = encode_in_parts(codecs_, sentence, options_.max_source_length, stopped, tag);
    result.split = result.split || own.size() > 1;
    std::ranges::move(own, std::back_inserter(parts));
  }
  if (tag.text.empty() || parts.empty()) return parts;
  auto& first = parts.front();  // of which the tag is a word, as it stands in the line
  first.repeated = 0;
  first.text = {tag.text.data(), static_cast<size_t>(first.text.data() + first.text.size() - tag.text.data())};
  return parts;
}

/// False: it is longer than any translation of the part, and cut.
bool Translator::force_prefix(const PartPrefix& prefix, LinePart& part) const {
  auto& ids = part.input.prefix = codec().encode_target(prefix.text);
  if (!ids.empty() && is_unwritable(ids)) part.misses_a_constraint = true;
  ids = codec().tagged_target(std::move(ids));
  const int64_t limit = options_.search.length_limit(options_.max_source_length);  // leaves space for one more token
  const bool fits = std::ssize(ids) < limit;
  if (!fits) {
    ids.resize(limit - 1);
    part.misses_a_constraint = true;
  }
  if (prefix.is_whole) ids.push_back(SpecialIds::kEnd);
  return fits;
}

void Translator::force(std::span<const std::string> phrases, LinePart& part) const {
  for (const auto& phrase : phrases) {
    auto ids = codec().encode_target(phrase);
    part.misses_a_constraint = part.misses_a_constraint || is_unwritable(ids);
    if (!is_unwritable(ids)) part.input.must_appear.push_back(std::move(ids));
  }
}

/// The prefix is divided among the parts, and each has the terms of its text. What the translation must hold says
/// nothing of its place: it goes to the longest part that the prefix leaves open, where it fits most likely.
void Translator::add_constraints(std::span<const SourcePart> sources, LineJob& line) const {
  const auto& request = line.request;
  const std::string& prefix = line.plan.has_cuts() ? line.plan.prefix() : request.prefix;
  auto must = line.plan.has_cuts() ? line.plan.must() : request.must;
  if (sources.size() > 1)
    std::erase_if(must, [&](const std::string& phrase) { return prefix.find(phrase) != std::string::npos; });
  const auto prefixes = divide_prefix(prefix, sources, codec());
  const size_t open = std::ranges::find(prefixes, false, &PartPrefix::is_whole) - prefixes.begin();
  size_t longest = open;
  for (size_t i = open; i < sources.size(); ++i)
    if (sources[i].pieces.front().size() > sources[longest].pieces.front().size()) longest = i;
  for (size_t i = 0; i < sources.size(); ++i) {
    auto& part = line.parts[i];
    for (const auto& phrase : request.must_not) {
      auto ids = codec().encode_target(phrase);
      if (!is_unwritable(ids)) part.input.banned.push_back(std::move(ids));  // else it never appears
    }
    if (!force_prefix(prefixes[i], part)) line.result.prefix_is_cut = true;
    force(line.plan.forced(i), part);
    if (i == longest) force(must, part);
    if (!request.distinct) continue;
    part.input.distinct = i == open;
    if (i > open) part.input.n_best = 1;  // what differs behind the prefix continues in one way
  }
}

void Translator::begin(LineJob& line) const {
  auto& request = line.request;
  if (!request.terms.glossary) request.terms.glossary = options_.terms.glossary;
  if (options_.terms.keep_placeholders) request.terms.keep_placeholders = true;
  request.terms.patterns = options_.terms.patterns;
  const bool has_terms = request.terms.any();
  if (has_terms) {
    const auto can_write = [this](const std::string& phrase) { return !is_unwritable(codec().encode_target(phrase)); };
    const auto written = [this](const std::string& text) { return codec().decode_target(codec().encode_target(text)); };
    const auto tag = leading_tag(codec(), request.source).text;
    const size_t tag_end = tag.empty() ? 0 : tag.data() + tag.size() - request.source.data();
    line.plan = TermPlan(request, can_write, line.cut_all, written, tag_end);
  }
  if (options_.search.mbr != RiskUtility::kNone && !request.distinct) {
    line.by_risk = true;
    if (request.n_best == 0) request.n_best = wanted_;
  }
  line.parts.clear();
  line.result = {};
  if (!line.plan.has_words()) return;
  const std::string& text = has_terms ? line.plan.text() : request.source;
  const bool split = request.split_sentences.value_or(options_.split_sentences);
  auto sources = parts_of(text, split, line.stopped, line.result);
  std::vector<size_t> begins;
  const bool attention = request.attention || request.copy_unknown || needs_words(line);
  for (int64_t i = 0; i < std::ssize(sources); ++i) {
    begins.push_back(sources[i].text.data() - text.data());
    line.result.source_tokens += std::ssize(sources[i].pieces.front());
    auto& part = line.parts.emplace_back();
    part.input = {.sources = sources[i].pieces,
                  .n_best = line.by_risk ? 0 : request.n_best,
                  .attention = attention,
                  .distinct = request.distinct,
                  .no_repeat_ngram_size = line.retried ? kRetryNgram : 0,
                  .number = line.number,
                  .part = i};
    part.repeated = sources[i].repeated;
    if (shortlist_) part.input.candidates = shortlist_->candidates(part.input.sources.front());
  }
  line.plan.divide(std::move(begins));
  add_constraints(sources, line);
  if (request.whole_prefix && line.result.prefix_is_cut) line.parts.clear();
}

bool Translator::needs_words(const LineJob& line) const {
  const auto& request = line.request;
  const bool for_markup = (line.plan.has_cuts() || request.markup) && can_align_words();
  return (for_markup || request.alignment || request.word_attention) && aligns();
}

bool Translator::has_terms(const LineJob& line) const {
  if (!line.plan.has_forced()) return true;
  std::vector<std::string> parts;
  if (!line.result.alternatives.empty()) {
    for (const auto& part : line.result.alternatives.front().parts) parts.push_back(codec().decode_target(part.target));
  }
  return line.plan.is_met(line.result.text, parts);
}

bool Translator::finish(LineJob& line) const {
  compose(line, codec(), options_.search, needs_words(line));
  if (line.result.loop && options_.search.retry_loops && !std::exchange(line.retried, true)) {
    begin(line);
    return false;
  }
  if (line.cut_all || has_terms(line)) return true;
  line.cut_all = true;  // what could not be forced is put in
  begin(line);
  if (!line.parts.empty()) return false;
  compose(line, codec(), options_.search, false);
  return true;
}

bool Translator::aligns() const {
  std::call_once(*alignment_known_, [this] { aligns_ = group_->has_alignment(options_.search); });
  return aligns_;
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines, const TranslationCalls& calls,
                                               int64_t first_line) const {
  std::vector<Request> requests;
  for (const auto& line : lines) requests.push_back({.source = line});
  return translate(requests, calls, first_line);
}

std::vector<Translation> Translator::translate(std::span<const Request> requests, const TranslationCalls& calls,
                                               int64_t first_line) const {
  return search_all(requests, steps(), options_.search, calls, first_line);
}

void Translator::translate(TranslationQueue& lines) const {
  constexpr size_t kShortLine =
      1000;  // bytes: a line that is alone and no longer is translated by all threads together
  const TranslationCalls no_calls;
  bool is_alone = false;
  do {
    std::vector<TranslationQueue::Handle> first;
    if (lines.waiting() == 1) first = lines.take(1);
    is_alone = !first.empty() && first.front().request().source.size() <= kShortLine;
    PartQueue parts(is_alone ? nullptr : &lines, worker_limit(), steps(), no_calls);
    parts.add(std::move(first));
    if (is_alone)
      search_ready(parts, options_.search);
    else
      search_in_threads(parts, options_.search, options_.search.batch_size, worker_limit());
  } while (is_alone && lines.wait());
}

std::vector<Alternative> Translator::score(std::span<const TextPair> pairs, const TranslationCalls& calls) const {
  if (shortlist_)
    throw Error(
        "--score: a score is over the whole vocabulary; leave out --shortlist (--shortlist 0 where the model's "
        "own options have it)");
  SearchOptions forced = options_.search;
  forced.beam_size = forced.n_best = forced.diversity_groups = 1;
  forced.sampling = false;
  TranslatorOptions by_models;  // what is given is not written: only the models' own positions end it
  for (const auto& one : models_) limit_to(*one.model, one.codec->options().source_markers, by_models);
  forced.max_length = by_models.search.max_length;
  const auto shorten = [](std::vector<int32_t>& ids, int64_t length) {
    const bool is_longer = std::ssize(ids) > length;
    if (is_longer) ids.resize(length);
    return is_longer;
  };
  std::vector<Alternative> results(pairs.size());
  const auto begin_pair = [&](LineJob& line) {
    const auto& [source, target] = pairs[line.number];
    auto& result = results[line.number];
    result.text = target;
    SearchInput input{.prefix = codec().tagged_target(codec().encode_target(target))};
    if (forced.max_length > 0) result.shortened = shorten(input.prefix, forced.max_length - 1);
    input.prefix.push_back(SpecialIds::kEnd);
    for (const auto* own : codecs_) {
      input.sources.push_back(own->encode_source(strip(source)));
      if (shorten(input.sources.back(), options_.max_source_length)) result.shortened = true;
    }
    if (!input.sources.front().empty() || input.prefix.size() > 1 + codec().tagged_target({}).size())
      line.parts.push_back({.input = std::move(input)});
  };
  const auto finish_pair = [&](LineJob& line) {
    if (line.parts.empty()) return true;
    auto& [input, repeated, misses, hypotheses] = line.parts.front();
    auto& result = results[line.number];
    auto scored = to_alternative(codec(), input.sources.front(), std::move(hypotheses.front()));
    scored.text = std::move(result.text);
    scored.shortened = result.shortened;
    result = std::move(scored);
    return true;
  };
  const std::vector<Request> lines(pairs.size());
  search_all(lines, {begin_pair, finish_pair}, forced, calls, 0);
  return results;
}

PartQueue::Steps Translator::steps() const {
  return {.begin = [this](LineJob& line) { begin(line); }, .finish = [this](LineJob& line) { return finish(line); }};
}

int64_t Translator::worker_limit() const { return group_->worker_limit(); }

std::vector<Translation> Translator::search_all(std::span<const Request> requests, PartQueue::Steps steps,
                                                const SearchOptions& options, const TranslationCalls& calls,
                                                int64_t first_line) const {
  ListQueue<Request, Translation> lines(requests);
  PartQueue parts(nullptr, worker_limit(), std::move(steps), calls);
  // Others search by LibTorch's threads, and would have further ones beside them.
  const bool has_own_threads = models_.size() == 1 && dynamic_cast<const PlainTransformer*>(models_.front().model);
  parts.add(lines.take(std::ssize(requests)), first_line, has_own_threads ? worker_limit() : 1);
  parts.sort();
  search_ready(parts, options);
  std::vector<Translation> results;
  for (auto& result : lines.results()) results.push_back(std::move(*result));
  return results;
}

/// A queue whose parts are all there.
void Translator::search_ready(PartQueue& parts, const SearchOptions& options) const {
  const int64_t threads = worker_limit(), count = parts.waiting();
  const int64_t batch_size = std::clamp<int64_t>((count + threads - 1) / threads, 1, options_.search.batch_size);
  search_in_threads(parts, options, batch_size, std::min(threads, (count + batch_size - 1) / batch_size));
}

void Translator::search_in_threads(SearchQueue& queue, const SearchOptions& options, int64_t batch_size,
                                   int64_t workers) const {
  try {
    group_->search(workers, [&](DecodingModel& model) { search(model, queue, batch_size, options); });
  } catch (const std::bad_alloc&) {
    throw MachineError(out_of_memory_message(batch_size, options.beam_size));
  }
}

}  // namespace nmt
