#include "server/models/model_pool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/strict_json.h"
#include "config/languages.h"
#include "config/loading/model_description.h"
#include "data/prepared_data.h"
#include "server/http/http_message.h"
#include "text/codec/language_tags.h"
#include "text/terms.h"
#include "translation/lines/source_parts.h"

namespace nmt {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

/// What a model takes in memory, by its files: of a quantized one a little less than it takes.
int64_t bytes_of(const fs::path& directory) {
  int64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.is_regular_file()) bytes += static_cast<int64_t>(file.file_size());
  }
  return bytes;
}

/// What is wrong with a model, with the place where it is named, or its folder where the command line names it.
void at_place(const ServiceModel& model, const std::function<void()>& work) try { work(); } catch (const Error& error) {
  const std::string what = error.what(), directory = model.directories.front().string();
  if (!model.place.empty()) throw Error(model.place + what);
  if (what.find(directory) != std::string::npos) throw;
  throw Error(fmt::format("{}: {}", directory, what));
}

/// A codec with another source_prefix. Throws Error for a prefix that the vocabulary lacks.
TextCodec with_prefix(const TextCodec& codec, std::string prefix) {
  if (prefix.ends_with("<<")) prefix += ' ';
  const auto with = [&](const std::string& source_prefix) {
    auto options = codec.options();
    options.source_prefix = source_prefix;
    return codec.with(options);
  };
  TextCodec changed = with(prefix);
  const auto& ids = changed.prefix_ids();
  const bool is_unknown = ids.empty() || std::ranges::find(ids, SpecialIds::kUnknown) != ids.end();
  if (is_unknown || (prefix.starts_with(">>") && leading_tag(with(""), prefix + "a").text.empty()))
    throw Error(
        fmt::format("prefix '{}': the model's source vocabulary does not have it; write it as in training", prefix));
  return changed;
}

/// The codec of a model with what the service says of its source, by which sentences are told, too.
TextCodec codec_of(const ServiceModel& model, const TextCodec& own) {
  auto codec = model.source_prefix.empty() ? own : with_prefix(own, model.source_prefix);
  auto options = codec.options();
  if (!model.source.empty()) options.source_language = model.source;
  return codec.with(options);
}

/// The code of a language that model.json names; "und" where it names none.
std::string language_of(const fs::path& directory, const char* name) {
  const auto json = read_json_file(directory / "model.json");
  const auto tokenizer = json.find("tokenizer");
  if (tokenizer == json.end() || !tokenizer->is_object()) return "und";
  const auto language = tokenizer->find(name);
  return language == tokenizer->end() || !language->is_string() || language->get_ref<const std::string&>().empty()
             ? "und"
             : language->get<std::string>();
}

/// Whether a model is told the languages of both sides.
bool tells_both(const ModelDescription& description) {
  const auto& tokenizer = description.tokenizer;
  return tokenizer.is_object() && tokenizer.contains("tags_both_sides") && tokenizer["tags_both_sides"] == true;
}

/// What a model of several languages translates: from each of its source languages into each of its target languages,
/// or the one that is wanted. Empty: it was trained on one pair, or the service names it.
std::vector<LanguagePair> known_pairs(const ServiceModel& model, const ModelDescription& description,
                                      const Config& config) {
  const DataConfig& data = config.data;
  const bool both = tells_both(description);
  if ((data.languages.empty() && !both) || !model.source_prefix.empty()) return {};
  std::vector<std::string> sources, targets = tagged_languages(data);
  if (both) sources = targets = target_languages(load_codec(model.directories.front()));
  for (size_t corpus = 0; !both && corpus < data.languages.size(); ++corpus)
    sources.push_back(of_corpus(data, corpus).source_language);
  if (!config.decoding.source_language.empty()) sources = {config.decoding.source_language};
  if (!model.source.empty()) sources = {model.source};
  if (targets.empty()) targets = {of_corpus(data, 0).target_language};
  if (!config.decoding.target_language.empty()) targets = {config.decoding.target_language};
  if (!model.target.empty()) targets = {model.target};
  std::vector<LanguagePair> pairs;
  std::set<LanguagePair> known;
  const auto is_new = [&](const LanguagePair& pair) { return known.insert(pair).second; };
  for (const auto& source : sources)
    for (const auto& target : targets)
      if (source != target && is_new({source, target})) pairs.push_back({source, target});
  return pairs;
}

/// Each word of `second` with that of `first` from which it comes through a word of the language between.
std::vector<AlignedWords> through(const std::vector<AlignedWords>& first, const std::vector<AlignedWords>& second) {
  std::vector<AlignedWords> joined;
  for (const auto& late : second) {
    for (const auto& early : first) {
      if (early.target_begin < late.source_end && late.source_begin < early.target_end)
        joined.push_back({early.source_begin, early.source_end, late.target_begin, late.target_end});
    }
  }
  return joined;
}

}  // namespace

struct ModelPool::Entry {
  ServiceModel model;
  std::string target_language = {};  // of the model's tags (decoding.target_language); empty: it has none
  LanguagePair pair;
  int64_t bytes = 0;
  int64_t last_turn = 0;
  std::shared_ptr<ModelSet> models = {};        // one for all entries that differ in their prefix alone
  std::vector<TextCodec> codecs = {};           // with a prefix of its own, one for each of the models
  std::unique_ptr<Translator> translator = {};  // borrows both: goes first
  int64_t n_best = 1, batch_size = 1;
  bool is_further_pair = false;  // of a model of some 10,000 pairs, of which the first shows that it can be loaded
  bool must_be_seen = false;  // it names what only the model itself tells: whether it has a layer, a head, a prefix, or
                              // is the base of an adapter

  void unload() {
    translator.reset();
    codecs.clear();
    models.reset();
  }
};

ModelPool::ModelPool(ServiceConfig config, ModelPoolOptions options, Logger& log)
    : config_(std::move(config)), options_(std::move(options)), log_(log) {
  for (const auto& model : config_.models) {
    const auto& first = model.directories.front();
    ModelDescription own;
    int64_t bytes = 0;
    LanguagePair pair;
    at_place(model, [&] {
      for (const auto& directory : model.directories) {
        require_model_directory(directory);
        bytes += bytes_of(directory);
      }
      pair = {model.source.empty() ? language_of(first, "source_language") : model.source,
              model.target.empty() ? language_of(first, "target_language") : model.target};
      own = read_model_description(first);
    });
    if (config_.memory > 0 && bytes > config_.memory)
      throw Error(fmt::format("{}the model {} takes {} bytes, more than the {} that all models may take; give more",
                              config_.place("memory"), first.string(), bytes, config_.memory));
    // A change may be one that only the rest of the model's own configuration allows.
    const auto changed = model.changed(options_.changed(own.config));
    std::vector<LanguagePair> known;
    at_place(model, [&] { known = known_pairs(model, own, changed); });
    for (const auto& one : known.empty() ? std::vector{pair} : known) {
      auto& entry = entries_.emplace_back(std::make_unique<Entry>());
      entry->model = model;
      entry->pair = one;
      entry->bytes = bytes;
      entry->n_best = changed.decoding.beam_size;
      entry->batch_size = changed.decoding.batch_size;
      entry->must_be_seen = changed.decoding.alignment_layer > 0 || changed.decoding.alignment_head > 0 ||
                            !model.source_prefix.empty() || !model.adapter.empty();
      if (known.empty()) continue;
      entry->is_further_pair = tells_both(own) && one != known.front();
      entry->model.source = one.source;
      if (changed.data.tags == LanguageTags::kTarget || tells_both(own)) entry->target_language = one.target;
    }
  }
  find_routes();
  check_languages();
  for (const auto& entry : entries_) {
    if ((config_.memory == 0 && !entry->is_further_pair) || entry->must_be_seen)
      at_place(entry->model, [&] { loaded(*entry); });
  }
}

ModelPool::~ModelPool() = default;

void ModelPool::find_routes() {
  const auto model_of = [&](const LanguagePair& pair) -> std::optional<size_t> {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i]->pair == pair) return i;
    }
    return {};
  };
  std::set<LanguagePair> there;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& [source, target] = entries_[i]->pair;
    if (!there.insert(entries_[i]->pair).second)
      throw Error(
          fmt::format("{}two models translate from {} to {}; leave one out, or name its languages (source, target)",
                      entries_[i]->model.place, source, target));
    routes_.push_back({entries_[i]->pair, {i}});
  }
  for (const auto& pivot : config_.pivots) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i]->pair.target != pivot) continue;
      for (const auto& second : entries_) {
        const LanguagePair pair{entries_[i]->pair.source, second->pair.target};
        if (second->pair.source == pivot && pair.source != pair.target && there.insert(pair).second)
          routes_.push_back({pair, {i, *model_of(second->pair)}});
      }
    }
  }
}

/// Aliases and pivots have to do something: else a code is misspelt.
void ModelPool::check_languages() const {
  const auto codes = codes_of(pairs());
  const auto is_served = [&](const std::string& code) {  // clients may write it in any case
    return std::ranges::any_of(codes, [&](const std::string& own) { return same_ignoring_case(own, code); });
  };
  for (const auto& [alias, code] : config_.aliases) {
    const auto place = config_.place("aliases " + alias);
    if (!is_served(code))
      throw Error(fmt::format("{}{} stands for {}, which no model translates; name one of {}", place, alias, code,
                              fmt::join(codes, ", ")));
    if (is_served(alias))
      throw Error(fmt::format("{}{} is a language of the models itself, so it stands for no other; leave it out", place,
                              alias));
  }
  for (const auto& pivot : config_.pivots) {
    const auto is = [&](std::string LanguagePair::*side) {
      return std::ranges::any_of(entries_, [&](const auto& entry) { return entry->pair.*side == pivot; });
    };
    if (!is(&LanguagePair::target) || !is(&LanguagePair::source))
      throw Error(
          fmt::format("{}no text can go through {}: one model has to translate into it and another from it; "
                      "leave it out",
                      config_.place("pivots " + pivot), pivot));
  }
}

std::vector<LanguagePair> ModelPool::pairs() const {
  std::vector<LanguagePair> pairs;
  for (const auto& route : routes_) pairs.push_back(route.pair);
  return pairs;
}

int64_t ModelPool::max_n_best() const {
  int64_t most = 1;
  for (const auto& entry : entries_) most = std::max(most, entry->n_best);
  return most;
}

int64_t ModelPool::batch_size() const {
  int64_t most = 1;
  for (const auto& entry : entries_) most = std::max(most, entry->batch_size);
  return most;
}

const Translator& ModelPool::loaded(Entry& entry) {
  entry.last_turn = ++turn_;
  if (entry.translator) return *entry.translator;
  auto models = shared_models(entry);
  const auto start = SteadyClock::now();
  const bool is_fresh = !models;
  if (is_fresh) {
    make_room(entry.bytes);
    models = std::make_shared<ModelSet>(
        ModelSetOptions{.directories = entry.model.directories,
                        .weights = entry.model.weights,
                        .device = options_.device,
                        .max_source_length = options_.max_source_length,
                        .changed = [&](const Config& config) { return entry.model.changed(options_.changed(config)); },
                        .threads = options_.threads,
                        .adapter = entry.model.adapter,
                        .is_guest = options_.is_guest});
  }
  TranslatorOptions options = models->options();
  options.split_sentences = options_.split_sentences.value_or(models->is_of_sentences());
  options.search.n_best = 1;
  if (!entry.target_language.empty()) options.search.target_language = entry.target_language;
  options.terms = {entry.model.glossary, entry.model.keep_placeholders};
  auto members = models->members();
  std::vector<TextCodec> codecs;
  if (!entry.model.source_prefix.empty() || !entry.model.source.empty()) {
    for (const auto& member : members) codecs.push_back(codec_of(entry.model, *member.codec));
    for (size_t i = 0; i < members.size(); ++i) members[i].codec = &codecs[i];
  }
  auto translator = std::make_unique<Translator>(std::move(members), std::move(options));
  translator->aligns();  // found out now: the first request is not to wait for it
  entry.models = std::move(models);
  entry.codecs = std::move(codecs);  // they stay where they are
  entry.translator = std::move(translator);
  if (is_fresh && config_.models.size() > 1)
    log_.info("{}: loaded in {:.2f} s", entry.pair.name(),
              std::chrono::duration<double>(SteadyClock::now() - start).count());
  return *entry.translator;
}

/// The models of another entry that are the same; null where there is none in memory.
std::shared_ptr<ModelSet> ModelPool::shared_models(const Entry& entry) const {
  for (const auto& other : entries_) {
    const auto &own = entry.model, &its = other->model;
    if (other->translator && own.directories == its.directories && own.weights == its.weights &&
        own.adapter == its.adapter && own.decoding == its.decoding)
      return other->models;
  }
  return {};
}

void ModelPool::make_room(int64_t bytes) {
  const auto in_memory = [&] {
    std::map<const ModelSet*, int64_t> sets;
    for (const auto& one : entries_)
      if (one->translator) sets[one->models.get()] = one->bytes;
    return std::accumulate(sets.begin(), sets.end(), int64_t{0},
                           [](int64_t sum, const auto& set) { return sum + set.second; });
  };
  while (config_.memory > 0 && in_memory() + bytes > config_.memory) {
    Entry* oldest = nullptr;
    for (const auto& one : entries_) {
      if (one->translator && (!oldest || one->last_turn < oldest->last_turn)) oldest = one.get();
    }
    log_.info("{}: leaves the memory", oldest->pair.name());
    oldest->unload();
  }
}

const ModelPool::Route& ModelPool::route_of(const LanguagePair& pair) const {
  const auto route = std::ranges::find_if(routes_, [&](const Route& one) { return one.pair == pair; });
  if (route == routes_.end()) throw Error(fmt::format("no model translates {} any more", pair.name()));
  return *route;
}

void ModelPool::serve(const LanguagePair& pair, TranslationQueue& lines) {
  const Route& route = route_of(pair);
  if (route.entries.size() == 1) return loaded(*entries_[route.entries[0]]).translate(lines);
  in_batches([this](const auto&... arguments) { return translations(arguments...); })(pair, lines);
}

std::vector<Translation> ModelPool::translations(const LanguagePair& pair, std::span<const Request> requests,
                                                 const std::function<bool()>& stopped) try {
  const Route& route = route_of(pair);
  const TranslationCalls calls{.stopped = stopped};
  if (route.entries.size() == 1) return loaded(*entries_[route.entries[0]]).translate(requests, calls);

  std::vector<Request> first(requests.begin(), requests.end());
  for (Request& request : first) {
    request.n_best = 1;
    request.word_attention = false;
    request.prefix.clear();
  }
  const auto between = loaded(*entries_[route.entries[0]]).translate(first, calls);
  std::vector<Request> second(requests.begin(), requests.end());
  // The terms are of the pair as a whole: the first model has put them in, and there they stay.
  std::map<const Glossary*, std::shared_ptr<const Glossary>> kept;
  for (size_t i = 0; i < second.size(); ++i) {
    second[i].source = between[i].text;
    auto& glossary = second[i].terms.glossary;
    if (!glossary) continue;
    auto& own = kept[glossary.get()];
    if (!own) own = std::make_shared<const Glossary>(glossary->of_targets());
    glossary = own;
  }
  auto translations = loaded(*entries_[route.entries[1]]).translate(second, calls);
  for (size_t i = 0; i < translations.size(); ++i) {
    translations[i].source_tokens = between[i].source_tokens;
    translations[i].split = translations[i].split || between[i].split;
    if (translations[i].alternatives.empty()) continue;
    if (auto& aligned = translations[i].alternatives.front().aligned)
      aligned = through(between[i].alternatives.front().aligned.value_or(std::vector<AlignedWords>()), *aligned);
  }
  return translations;
} catch (const TranslationStopped&) {
  return {};
}

}  // namespace nmt
