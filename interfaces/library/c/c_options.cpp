#include "library/c/c_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/value.h"
#include "library/c/c_guard.h"

namespace nmt::api {
namespace {

template <typename Number>
Number number_of(const char* name, const std::string& text, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError(fmt::format("{}: '{}' is {}", name, shown(text), what));
  return number;
}

constexpr const char* kNoWhole = "no whole number, or out of range";
constexpr const char* kNoNumber = "no number";

}  // namespace

const std::vector<std::string>* OptionReader::values(const char* name) {
  known_.emplace_back(name);
  if (!options_) return nullptr;
  const auto found = options_->values.find(name);
  return found == options_->values.end() ? nullptr : &found->second;
}

bool OptionReader::has(const char* name) const { return options_ && options_->values.contains(name); }

void OptionReader::read(const char* name, std::string& place) {
  if (const auto* given = values(name)) place = given->back();
}

void OptionReader::read(const char* name, bool& place) {
  const auto* given = values(name);
  if (!given) return;
  const auto& text = given->back();
  const bool is_true = text == "true" || text == "1";
  if (!is_true && text != "false" && text != "0")
    throw UserError(fmt::format("{}: '{}' is neither true nor false", name, shown(text)));
  place = is_true;
}

void OptionReader::read(const char* name, int& place) {
  if (const auto* given = values(name)) place = number_of<int>(name, given->back(), kNoWhole);
}
void OptionReader::read(const char* name, int64_t& place) {
  if (const auto* given = values(name)) place = number_of<int64_t>(name, given->back(), kNoWhole);
}
void OptionReader::read(const char* name, uint64_t& place) {
  if (const auto* given = values(name)) place = number_of<uint64_t>(name, given->back(), kNoWhole);
}
void OptionReader::read(const char* name, double& place) {
  if (const auto* given = values(name)) place = number_of<double>(name, given->back(), kNoNumber);
}

void OptionReader::read(const char* name, std::vector<std::string>& place) {
  if (const auto* given = values(name)) place.insert(place.end(), given->begin(), given->end());
}

void OptionReader::read(const char* name, std::vector<double>& place) {
  const auto* given = values(name);
  if (!given) return;
  std::string_view rest = given->back();
  for (bool more = !rest.empty(); more;) {
    const size_t comma = rest.find(',');
    const auto item = rest.substr(0, comma);
    if (item.empty())
      throw UserError(fmt::format("{}: '{}' lacks a number beside a comma; write 1,2", name, shown(given->back())));
    place.push_back(number_of<double>(name, std::string(item), kNoNumber));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
}

void OptionReader::finish() const {
  if (!options_) return;
  for (const auto& [name, given] : options_->values) {
    if (std::ranges::find(known_, name) != known_.end()) continue;
    std::string known;
    for (const auto& other : known_) known += (known.empty() ? "" : ", ") + other;
    throw UserError(fmt::format("{}: no such option here; there are {}", name.empty() ? "''" : shown(name), known));
  }
}

void read_translator(OptionReader& reader, TranslatorOptions& options) {
  reader.read("model", options.models);
  reader.read("weights", options.weights);
  reader.read("device", options.device);
  reader.read("precision", options.precision);
  reader.read("threads", options.threads);
  reader.read("max_source_length", options.max_source_length);
  reader.read("set", options.settings);
}

TranslateOptions translate_options(OptionReader& reader, const nmt_stop* stop) {
  TranslateOptions options;
  reader.read("beam_size", options.beam_size);
  reader.read("n_best", options.n_best);
  reader.read("length_penalty", options.length_penalty);
  reader.read("coverage_penalty", options.coverage_penalty);
  reader.read("max_length_ratio", options.max_length_ratio);
  reader.read("max_length_offset", options.max_length_offset);
  reader.read("min_length", options.min_length);
  reader.read("max_length", options.max_length);
  reader.read("no_repeat_ngram_size", options.no_repeat_ngram_size);
  reader.read("repetition_penalty", options.repetition_penalty);
  reader.read("ban_unknown", options.ban_unknown);
  reader.read("diversity_groups", options.diversity_groups);
  reader.read("diversity_strength", options.diversity_strength);
  reader.read("batch_size", options.batch_size);
  bool sampling = false;
  Sampling drawn;
  reader.read("sampling", sampling);
  reader.read("temperature", drawn.temperature);
  reader.read("top_k", drawn.top_k);
  reader.read("top_p", drawn.top_p);
  reader.read("seed", drawn.seed);
  if (sampling) options.sampling = drawn;
  for (const char* name : {"temperature", "top_k", "top_p", "seed"})
    if (!sampling && reader.has(name)) throw UserError(fmt::format("{}: goes with sampling", name));
  reader.read("set", options.settings);
  reader.read("prefix", options.prefix);
  reader.read("must", options.must);
  reader.read("must_not", options.must_not);
  std::string glossary;
  reader.read("glossary", glossary);
  if (!glossary.empty()) options.glossary = Glossary::read(glossary);
  reader.read("keep_placeholders", options.keep_placeholders);
  reader.read("split_sentences", options.split_sentences);
  reader.read("copy_unknown", options.copy_unknown);
  reader.read("token_scores", options.token_scores);
  reader.read("alignment", options.alignment);
  reader.read("attention", options.attention);
  reader.read("first_line", options.first_line);
  options.stop = token_of(stop);
  return options;
}

}  // namespace nmt::api

namespace {

/// Options that are lists: a further value is added.
bool is_list(std::string_view name) {
  return name == "model" || name == "must" || name == "must_not" || name == "set" || name == "allowed_host";
}

void put_option(nmt_options* options, const char* name, const char* value) {
  nmt::api::require(options, "options");
  nmt::api::require(name, "name");
  nmt::api::require(value, "value");
  auto& values = options->values[name];
  if (!is_list(name)) values.clear();
  values.emplace_back(value);
}

}  // namespace

extern "C" {

nmt_options* nmt_options_new(void) {
  try {
    return new nmt_options;
  } catch (...) {
    return nullptr;
  }
}

void nmt_options_free(nmt_options* options) { delete options; }

nmt_status nmt_options_set(nmt_options* options, const char* name, const char* value) {
  return nmt::api::without_exceptions([&] { put_option(options, name, value); });
}

nmt_status nmt_options_set_int(nmt_options* options, const char* name, int64_t value) {
  return nmt::api::without_exceptions([&] { put_option(options, name, std::to_string(value).c_str()); });
}

nmt_status nmt_options_set_double(nmt_options* options, const char* name, double value) {
  return nmt::api::without_exceptions([&] { put_option(options, name, fmt::format("{}", value).c_str()); });
}

}  // extern "C"
