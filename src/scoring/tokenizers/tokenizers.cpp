#include "scoring/tokenizers/tokenizers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/unicode.h"
#include "scoring/tokenizers/western_rules.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"

#ifdef NMT_WITH_MECAB
#include <mecab.h>

#include <algorithm>
#include <cstdlib>
#include <vector>
#endif

namespace nmt::scoring {

std::string BleuTokenizer::tokenize(std::string_view line) const {
  std::string text, joined;
  tokenize(line, text);
  std::vector<std::string_view> words;
  split_words(text, words);
  for (const std::string_view word : words) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

namespace {

class SentencePieceTokenizer final : public BleuTokenizer {
 public:
  SentencePieceTokenizer(const std::string& name, const std::filesystem::path& model, std::string signature)
      : signature_(std::move(signature)) {
    if (!load_sentencepiece(processor_, read_file(model)))
      throw Error(fmt::format("tokenizer '{}': {} is not a SentencePiece model, or damaged", name, model.string()));
  }

  void tokenize(std::string_view line, std::string& out) const override {
    std::vector<std::string> pieces;
    if (const auto status = processor_.Encode({line.data(), line.size()}, &pieces); !status.ok()) {
      throw Error(fmt::format("SentencePiece cannot split a line: {}", status.ToString()));
    }
    out.clear();
    for (const std::string& piece : pieces) {
      if (!out.empty()) out += ' ';
      out += piece;
    }
  }
  std::string signature() const override { return signature_; }

 private:
  sentencepiece::SentencePieceProcessor processor_;
  std::string signature_;
};

std::string file_of_download(const std::string& name) {
  if (name == "flores200") return "flores200sacrebleuspm";
  if (name == "spBLEU-1K") return "spbleu-1k_tokenizer_spm.model";
  return "sacrebleu_tokenizer_spm.model";
}

/// Where sacreBLEU keeps what it has downloaded.
std::filesystem::path download_folder() {
  if (const char* folder = std::getenv("SACREBLEU")) return folder;
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "") / ".sacrebleu";
}

}  // namespace

std::shared_ptr<const BleuTokenizer> make_sentencepiece_tokenizer(const std::string& name, const std::string& model) {
  const bool own_model = !model.empty();
  const auto path = own_model ? std::filesystem::path(model) : download_folder() / "models" / file_of_download(name);
  if (!std::filesystem::exists(path)) {
    if (own_model) throw Error(fmt::format("--spm-model {}: no such file", model));
    throw Error(fmt::format("tokenizer '{}': {} is not there; download the model and name it with --spm-model FILE",
                            name, path.string()));
  }
  std::string signature = name == "spm" ? "flores101" : name;
  if (name == "spm" && own_model) signature = "spm-" + sha256_of_file(path).substr(0, 8);
  return std::make_shared<SentencePieceTokenizer>(name, path, signature);
}

#ifdef NMT_WITH_MECAB
namespace {

struct Dictionary {
  std::string_view package, signature;
  unsigned int size;  // words; what tells the dictionary from others, as in sacreBLEU
};

/// Debian's IPADIC has one word more than the one that sacreBLEU uses (the era name Reiwa), so its figures are signed
/// otherwise.
std::vector<Dictionary> dictionaries_of(const std::string& name) {
  if (name == "ko-mecab") return {{"mecab-ko-dic", "KO", 811795}};
  return {{"IPADIC (Debian package mecab-ipadic-utf8)", "IPA", 392126}, {"Debian's IPADIC", "IPA.392127", 392127}};
}

class MecabTokenizer final : public BleuTokenizer {
 public:
  explicit MecabTokenizer(const std::string& name) {
    std::string arguments = "-Owakati";
    if (const char* folder = std::getenv("MECAB_DICTIONARY")) arguments += fmt::format(" -d {}", folder);
    model_.reset(MeCab::createModel(arguments.c_str()));
    if (!model_) throw Error(fmt::format("tokenizer '{}': MeCab does not start ({})", name, MeCab::getLastError()));
    const MeCab::DictionaryInfo* info = model_->dictionary_info();
    const auto dictionaries = dictionaries_of(name);
    const auto dictionary = std::find_if(dictionaries.begin(), dictionaries.end(),
                                         [&](const Dictionary& known) { return info && info->size == known.size; });
    if (dictionary == dictionaries.end() || info->next) {
      throw Error(
          fmt::format("tokenizer '{}': MeCab's dictionary has {} words, {} has {}; set MECAB_DICTIONARY to its folder, "
                      "without user dictionaries",
                      name, info ? info->size : 0, dictionaries.front().package, dictionaries.front().size));
    }
    tagger_.reset(model_->createTagger());
    signature_ = fmt::format("{}-{}-{}", name, MeCab::Model::version(), dictionary->signature);
  }

  void tokenize(std::string_view line, std::string& out) const override {
    const std::string_view text = strip(line);
    const std::unique_ptr<MeCab::Lattice> lattice(model_->createLattice());
    lattice->set_sentence(text.data(), text.size());
    if (!tagger_->parse(lattice.get())) throw Error(fmt::format("MeCab cannot split a line: {}", lattice->what()));
    out.assign(strip(lattice->toString()));
  }
  std::string signature() const override { return signature_; }

 private:
  std::unique_ptr<MeCab::Model> model_;
  std::unique_ptr<MeCab::Tagger> tagger_;  // after the model: goes before it
  std::string signature_;
};

}  // namespace

std::shared_ptr<const BleuTokenizer> make_mecab_tokenizer(const std::string& name) {
  return std::make_shared<MecabTokenizer>(name);
}

#else

std::shared_ptr<const BleuTokenizer> make_mecab_tokenizer(const std::string& name) {
  throw Error(
      fmt::format("tokenizer '{}': this program was built without MeCab; install libmecab-dev and build again", name));
}

#endif

namespace {

class NoneTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override { out.assign(line); }
  std::string signature() const override { return "none"; }
};

/// That of mteval-v13a, the script of the WMT evaluations, but for what does not touch one line.
class Tokenizer13a final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    std::string padded;
    padded.reserve(line.size() + 2);
    padded.append(1, ' ').append(line).append(1, ' ');
    const auto has = [line](char c) { return line.find(c) != std::string_view::npos; };
    if (has('&') || has('<') || has('\n')) {
      padded.assign(line);
      replace_all(padded, "<skipped>", "");
      replace_all(padded, "-\n", "");
      replace_all(padded, "\n", " ");
      unescape_xml(padded);
      padded.insert(0, 1, ' ').append(1, ' ');
    }
    apply_western_rules(padded, out);
  }
  std::string signature() const override { return "13a"; }
};

/// Spaces round what counts as Chinese, then the western rules.
class ZhTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    line = strip(line);
    std::string spaced;
    spaced.reserve(3 * line.size());
    for (size_t i = 0; i < line.size();) {
      const size_t start = i;
      const bool chinese = is_chinese(next_code_point(line, i));
      if (chinese) spaced += ' ';
      spaced.append(line, start, i - start);
      if (chinese) spaced += ' ';
    }
    apply_western_rules(spaced, out);
  }
  std::string signature() const override { return "zh"; }

 private:
  /// The ranges of sacreBLEU, which take in more than Chinese (most symbols and dashes) and no plane but the first.
  static bool is_chinese(char32_t c) {
    struct Range {
      char32_t first, last;
    };
    static constexpr Range kRanges[] = {{0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F},
                                        {0x31A0, 0x31EF}, {0x3200, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
                                        {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F},
                                        {0xFF00, 0xFFEF}};
    if (c < kRanges[0].first) return false;
    return std::any_of(std::begin(kRanges), std::end(kRanges),
                       [c](const Range& range) { return c >= range.first && c <= range.last; });
  }
};

/// That of mteval-v14: punctuation and symbols of all scripts, by general category.
class InternationalTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    std::u32string text = to_code_points(line), spaced;
    // (\P{N})(\p{P}) -> "\1 \2 "
    for (size_t i = 0; i < text.size();) {
      const char32_t c = text[i++];
      spaced += c;
      if (i < text.size() && class_of(c) != CharacterClass::kNumber &&
          class_of(text[i]) == CharacterClass::kPunctuation) {
        spaced.append({U' ', text[i++], U' '});
      }
    }
    // (\p{P})(\P{N}) -> " \1 \2"
    text.clear();
    for (size_t i = 0; i < spaced.size();) {
      const char32_t c = spaced[i++];
      if (i < spaced.size() && class_of(c) == CharacterClass::kPunctuation &&
          class_of(spaced[i]) != CharacterClass::kNumber) {
        text.append({U' ', c, U' ', spaced[i++]});
      } else {
        text += c;
      }
    }
    // (\p{S}) -> " \1 "
    spaced.clear();
    for (const char32_t c : text) {
      if (class_of(c) == CharacterClass::kSymbol) {
        spaced.append({U' ', c, U' '});
      } else {
        spaced += c;
      }
    }
    out = to_utf8(spaced);
  }
  std::string signature() const override { return "intl"; }
};

class CharTokenizer final : public BleuTokenizer {
 public:
  void tokenize(std::string_view line, std::string& out) const override {
    out.clear();
    out.reserve(2 * line.size());
    for (size_t i = 0; i < line.size();) {
      const size_t start = i;
      next_code_point(line, i);
      if (start > 0) out += ' ';
      out.append(line, start, i - start);
    }
  }
  std::string signature() const override { return "char"; }
};

}  // namespace

const std::vector<std::string>& tokenizer_names() {
  static const std::vector<std::string> names = {"none",     "zh",  "13a",       "intl",      "char",     "ja-mecab",
                                                 "ko-mecab", "spm", "flores101", "flores200", "spBLEU-1K"};
  return names;
}

std::shared_ptr<const BleuTokenizer> make_tokenizer(const std::string& name, const std::string& sentencepiece_model) {
  if (name == "none") return std::make_shared<NoneTokenizer>();
  if (name == "zh") return std::make_shared<ZhTokenizer>();
  if (name == "13a") return std::make_shared<Tokenizer13a>();
  if (name == "intl") return std::make_shared<InternationalTokenizer>();
  if (name == "char") return std::make_shared<CharTokenizer>();
  if (name == "ja-mecab" || name == "ko-mecab") return make_mecab_tokenizer(name);
  if (name == "spm" || name == "flores101" || name == "flores200" || name == "spBLEU-1K") {
    return make_sentencepiece_tokenizer(name, sentencepiece_model);
  }
  throw Error(fmt::format("tokenizer '{}': unknown; choose one of {}", name, fmt::join(tokenizer_names(), ", ")));
}

std::string tokenizer_for_language(std::string_view language) {
  if (language == "zh") return "zh";
  if (language == "ja") return "ja-mecab";
  if (language == "ko") return "ko-mecab";
  return "13a";
}

}  // namespace nmt::scoring
