#include "convert/formats/hugging_face_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/strict_json.h"

namespace fs = std::filesystem;

namespace nmt::convert {
namespace {

constexpr JsonLimits kSettingsLimits{.bytes = 1 << 20, .depth = 8, .values = 1 << 18};

HuggingFaceConfig read_settings(const fs::path& path) { return {path.string(), read_json_file(path, kSettingsLimits)}; }

/// A model of a type that another --from reads.
std::string other_way(const std::string& type) {
  if (type == "marian") return "; use --from marian";
  if (type == "t5" || type == "mt5") return "; use --from t5";
  if (type == "m2m_100") return "; use --from m2m";
  return "";
}

}  // namespace

HuggingFaceConfig::HuggingFaceConfig(std::string place, nlohmann::json json)
    : path_(std::move(place)), json_(std::move(json)) {
  if (!json_.is_object()) throw Error(path_ + ": damaged: not a JSON object");
}

HuggingFaceConfig::HuggingFaceConfig(const fs::path& directory, const std::vector<std::string>& types)
    : HuggingFaceConfig(read_settings(directory / "config.json")) {
  const auto type = text("model_type", "");
  if (std::ranges::find(types, type) == types.end())
    throw Error(fmt::format("{}: model_type is '{}'; only {} can be read{}", path_, type, fmt::join(types, " and "),
                            other_way(type)));
}

HuggingFaceConfig HuggingFaceConfig::with(const HuggingFaceConfig& others) const {
  auto both = *this;
  for (const auto& [key, value] : others.json_.items()) {
    both.json_[key] = value;
    const auto elsewhere = others.others_.find(key);
    both.others_[key] = elsewhere == others.others_.end() ? others.path_ : elsewhere->second;
  }
  return both;
}

std::string HuggingFaceConfig::place(const std::string& key) const {
  const auto found = others_.find(key);
  return fmt::format("{}: {}", found == others_.end() ? path_ : found->second, key);
}

int64_t HuggingFaceConfig::number(const std::string& key, int64_t min, int64_t max) const {
  const auto value = whole_number(json_.value(key, nlohmann::json()));
  if (!value || *value < min || *value > max)
    throw Error(
        fmt::format("{} is {} whole number from {} to {}", place(key), has(key) ? "no" : "missing or no", min, max));
  return *value;
}

int64_t HuggingFaceConfig::number_or(const std::string& key, int64_t absent, int64_t min, int64_t max) const {
  return has(key) ? number(key, min, max) : absent;
}

double HuggingFaceConfig::real_or(const std::string& key, double absent, double min, double max) const {
  if (!has(key)) return absent;
  const auto& value = json_[key];
  if (!value.is_number() || !(value.get<double>() >= min) || !(value.get<double>() <= max))
    throw Error(fmt::format("{} is no number from {} to {}", place(key), min, max));
  return value.get<double>();
}

bool HuggingFaceConfig::has(const std::string& key) const { return json_.contains(key) && !json_[key].is_null(); }

bool HuggingFaceConfig::flag(const std::string& key, bool absent) const {
  if (!has(key)) return absent;
  if (!json_[key].is_boolean()) throw Error(place(key) + " is neither true nor false");
  return json_[key].get<bool>();
}

std::string HuggingFaceConfig::text(const std::string& key, const std::string& absent) const {
  if (!has(key)) return absent;
  if (!json_[key].is_string()) throw Error(place(key) + " is no text");
  return json_[key].get<std::string>();
}

nlohmann::json HuggingFaceConfig::list(const std::string& key) const {
  if (!has(key)) return nlohmann::json::array();
  if (!json_[key].is_array()) throw Error(place(key) + " is no list");
  return json_[key];
}

void HuggingFaceConfig::refuse(const std::string& key, const std::string& value) const {
  throw Error(fmt::format("{} is {}, which this toolkit's Transformer cannot represent", place(key), value));
}

fs::path hugging_face_weights(const fs::path& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"})
    if (fs::exists(directory / name)) return directory / name;
  throw Error(fmt::format("{}: neither model.safetensors nor pytorch_model.bin is there", directory.string()));
}

std::string language_code(std::string text, const std::string& absent) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '-');
  return text.empty() ? absent : text;
}

std::string hugging_face_language(const fs::path& directory, const char* key, const std::string& absent) {
  const auto path = directory / "tokenizer_config.json";
  if (!fs::exists(path)) return absent;
  return language_code(read_settings(path).text(key, ""), absent);
}

namespace {

/// The list "added_tokens" of tokenizer.json; the rest of it, a vocabulary, is not taken into memory.
nlohmann::json added_tokens_of_file(const fs::path& path) {
  constexpr JsonLimits kLimits{.bytes = 64 << 20, .depth = 32, .values = 1 << 23};
  const auto text = read_regular_file(path, kLimits.bytes);
  if (const auto problem = problem_of_json(text, kLimits))
    throw Error(fmt::format("{}: damaged: {}", path.string(), *problem));
  const auto is_wanted = [](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& part) {
    return event != nlohmann::json::parse_event_t::key || depth != 1 || part == "added_tokens";
  };
  return HuggingFaceConfig(path.string(), nlohmann::json::parse(text, is_wanted)).list("added_tokens");
}

}  // namespace

std::map<int64_t, std::string> added_tokens(const fs::path& directory) {
  std::map<int64_t, std::string> tokens;
  if (const auto path = directory / "tokenizer.json"; fs::exists(path))
    for (const auto& token : added_tokens_of_file(path)) {
      const HuggingFaceConfig one(path.string() + ": added_tokens", token);
      tokens[one.number("id", 0)] = one.text("content", "");
    }
  if (const auto path = directory / "added_tokens.json"; fs::exists(path)) {
    const auto added = read_settings(path);
    for (const auto& [token, id] : added.json().items()) tokens[added.number(token, 0)] = token;
  }
  if (const auto path = directory / "tokenizer_config.json"; fs::exists(path)) {
    const auto all = read_settings(path).json().value("added_tokens_decoder", nlohmann::json::object());
    const HuggingFaceConfig decoder(path.string() + ": added_tokens_decoder", all);
    for (const auto& [key, settings] : all.items()) {
      const auto id = whole_number(parse_json_or_null(key));
      if (!id || *id < 0) throw Error(fmt::format("{}: '{}' is no id", decoder.path(), key));
      tokens[*id] = HuggingFaceConfig(fmt::format("{}: {}", decoder.path(), key), settings).text("content", "");
    }
  }
  return tokens;
}

void refuse_added_token(const fs::path& directory, int64_t id, const std::string& token) {
  throw Error(fmt::format(
      "{}: the tokenizer has the added token '{}' ({}), which is cut out of a text before SentencePiece: it "
      "cannot be read; a folder without it in added_tokens.json and tokenizer_config.json can, and takes it "
      "as plain text",
      directory.string(), token, id));
}

HuggingFaceConfig generation_settings(const fs::path& directory, const HuggingFaceConfig& config) {
  const auto path = directory / "generation_config.json";
  return fs::exists(path) ? config.with(read_settings(path)) : config;
}

namespace {

struct Neutral {
  const char* key;
  nlohmann::json value;  // with which it changes nothing; so do null, false and empty lists
};

/// Settings of generate() that change the output and that we have no option for.
std::vector<Neutral> unread_settings(bool samples) {
  std::vector<Neutral> settings{{"encoder_no_repeat_ngram_size", 0},
                                {"encoder_repetition_penalty", 1},
                                {"exponential_decay_length_penalty", nullptr},
                                {"forced_bos_token_id", nullptr},
                                {"suppress_tokens", nullptr},
                                {"begin_suppress_tokens", nullptr},
                                {"sequence_bias", nullptr},
                                {"force_words_ids", nullptr},
                                {"constraints", nullptr},
                                {"penalty_alpha", 0},
                                {"guidance_scale", 1},
                                {"stop_strings", nullptr},
                                {"dola_layers", nullptr},
                                {"watermarking_config", nullptr}};
  if (samples)
    settings.insert(settings.end(), {{"typical_p", 1}, {"min_p", 0}, {"epsilon_cutoff", 0}, {"eta_cutoff", 0}});
  return settings;
}

bool is_neutral(const nlohmann::json& value, const nlohmann::json& neutral) {
  return value.is_null() || value == false || (value.is_structured() && value.empty()) || value == neutral;
}

/// Groups that our options can be.
bool has_groups(const HuggingFaceConfig& settings, int64_t beams) {
  const auto groups = settings.number_or("num_beam_groups", 1, 1, 1000);
  return groups > 1 && beams % groups == 0;
}

/// Theirs has one beam where num_beams is not there.
bool draws_single_tokens(const HuggingFaceConfig& settings) {
  return settings.flag("do_sample", false) && settings.number_or("num_beams", 1, 1, 1000) == 1;
}

}  // namespace

// The limits are those of our options.
DecodingConfig hugging_face_decoding(const HuggingFaceConfig& settings) {
  DecodingConfig decoding;
  decoding.beam_size = settings.number_or("num_beams", 4, 1, 1000);
  decoding.length_penalty = settings.real_or("length_penalty", 1, 0, 10);
  decoding.length_penalty_form = LengthPenalty::kSimple;
  decoding.no_repeat_ngram_size = settings.number_or("no_repeat_ngram_size", 0, 0, 1000);
  decoding.repetition_penalty = settings.real_or("repetition_penalty", 1, 0.01, 100);
  decoding.max_length_ratio = 3;
  const bool never = settings.json().value("early_stopping", nlohmann::json()) == "never";
  if (!never && settings.flag("early_stopping", false)) decoding.stopping = Stopping::kFirst;
  // min_length counts the start token.
  decoding.min_length = settings.has("min_new_tokens")
                            ? settings.number("min_new_tokens", 0, 100000)
                            : std::max<int64_t>(settings.number_or("min_length", 0, 0, 100001) - 1, 0);
  decoding.max_length = settings.number_or("max_new_tokens", 0, 1, 100000);
  if (decoding.max_length > 0) decoding.min_length = std::min(decoding.min_length, decoding.max_length - 1);
  if (has_groups(settings, decoding.beam_size)) {
    decoding.diversity_groups = settings.number("num_beam_groups");
    decoding.diversity_strength = settings.real_or("diversity_penalty", 0, 0, 100);
  }
  if (draws_single_tokens(settings)) {
    decoding.sampling = true;
    decoding.beam_size = decoding.diversity_groups = 1;
    decoding.diversity_strength = DecodingConfig().diversity_strength;
    decoding.temperature = settings.real_or("temperature", 1, 0.01, 100);
    const bool has_null = settings.json().contains("top_k") && settings.json().at("top_k").is_null();  // it says: none
    decoding.top_k = has_null ? 0 : settings.number_or("top_k", 50, 0, 1 << 24);
    decoding.top_p = settings.real_or("top_p", 1, 1e-9, 1);
  }
  return decoding;
}

std::string unread_decoding(const HuggingFaceConfig& settings, std::set<int64_t> bans) {
  const bool samples = settings.flag("do_sample", false), draws = draws_single_tokens(settings);
  std::vector<std::string> names;
  for (const auto& [key, neutral] : unread_settings(samples))
    if (!is_neutral(settings.json().value(key, nlohmann::json()), neutral)) names.push_back(key);
  if (samples && !draws) names.push_back("do_sample");
  const auto groups = settings.number_or("num_beam_groups", 1, 1, 1000);
  if (groups > 1 && !draws && !has_groups(settings, settings.number_or("num_beams", 4, 1, 1000)))
    names.push_back("num_beam_groups");
  for (const char* key : {"pad_token_id", "bos_token_id", "decoder_start_token_id"})
    if (settings.has(key)) bans.insert(settings.number(key, 0));
  const auto is_banned_here = [&](const nlohmann::json& word) {
    const auto id = word.is_array() && word.size() == 1 ? whole_number(word[0]) : std::nullopt;
    return id && bans.contains(*id);
  };
  if (!std::ranges::all_of(settings.list("bad_words_ids"), is_banned_here)) names.push_back("bad_words_ids");
  if (names.empty()) return "";
  return fmt::format(
      "{} (or generation_config.json beside it): no option here for {}; translations may differ from "
      "those of transformers",
      settings.path(), fmt::join(names, ", "));
}

bool hugging_face_bans(const HuggingFaceConfig& settings, int64_t id) {
  return std::ranges::any_of(settings.list("bad_words_ids"),
                             [id](const nlohmann::json& word) { return word == nlohmann::json::array({id}); });
}

}  // namespace nmt::convert
