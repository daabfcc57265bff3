#include "text/codec/language_tags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "text/tokenizer.h"

namespace nmt {

std::vector<int32_t> tag_pieces(const TextCodec& codec) {
  std::vector<int32_t> tags;
  for (int32_t id = 0; id < codec.source().size(); ++id)
    if (!language_of_piece(codec.source().piece(id)).empty()) tags.push_back(id);
  return tags;
}

std::vector<std::string> target_languages(const TextCodec& codec) {
  std::vector<std::string> languages;
  for (const int32_t id : tag_pieces(codec)) languages.push_back(language_of_piece(codec.source().piece(id)));
  return languages;
}

TextCodec into_language(const TextCodec& codec, const std::string& language) {
  if (codec.options().tags_both_sides) return between_languages(codec, "", language);
  auto languages = target_languages(codec);
  const bool has_tags = !languages.empty();
  if (!has_tags) languages.push_back(codec.options().target_language);
  if (std::ranges::find(languages, language) == languages.end())
    throw Error(fmt::format("target language {}: the model translates into {}; name one of these", language,
                            fmt::join(languages, ", ")));
  auto options = codec.options();
  options.target_language = language;
  if (has_tags) options.source_prefix = language_tag(language) + " ";
  auto tagged = codec.with(std::move(options));
  if (has_tags && !codec.source().piece(tagged.prefix_ids().back()).ends_with(language_tag(language)))
    throw Error(
        fmt::format("target language {}: the vocabulary's normalisation changes its tag {}; write the code in "
                    "lower case",
                    language, language_tag(language)));
  return tagged;
}

TextCodec between_languages(const TextCodec& codec, const std::string& source, const std::string& target) {
  auto options = codec.options();
  if (!options.tags_both_sides) {
    if (!source.empty() && source != options.source_language)
      throw Error(
          fmt::format("source language {}: the model is not told the language of its source; leave it out", source));
    return target.empty() ? codec : into_language(codec, target);
  }
  if (!source.empty()) options.source_language = source;
  if (!target.empty()) options.target_language = target;
  auto tagged = codec.with(std::move(options));
  const auto require = [&](const char* side, const std::string& language, bool is_there) {
    if (is_there) return;
    throw Error(fmt::format("{0} language {1}: the model knows {2}; name one of these (--{0}-language)", side,
                            language.empty() ? "not given" : language, fmt::join(target_languages(codec), ", ")));
  };
  require("source", tagged.options().source_language, !tagged.prefix_ids().empty());
  require("target", tagged.options().target_language, tagged.target_tag().has_value());
  return tagged;
}

TextCodec codec_for(const TextCodec& codec, const DataConfig& data) {
  if (codec.options().tags_both_sides) return between_languages(codec, data.source_language, data.target_language);
  return data.tags == LanguageTags::kNone ? codec : into_language(codec, data.target_language);
}

}  // namespace nmt
