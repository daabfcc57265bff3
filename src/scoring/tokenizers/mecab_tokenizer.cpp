#include "scoring/tokenizers/mecab_tokenizer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/unicode.h"

#ifdef NMT_WITH_MECAB
#include <mecab.h>

#include <algorithm>
#include <cstdlib>
#include <vector>
#endif

namespace nmt::scoring {

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

}  // namespace nmt::scoring
