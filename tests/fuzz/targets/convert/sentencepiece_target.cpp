// spm.model, read by the project's own SentencePiece and by the readers beside it.
#include <memory>

#include "base/random.h"
#include "convert/formats/sentencepiece_model.h"
#include "fuzz_target.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/subword_sampler.h"

namespace {

using namespace nmt;
using fuzz::require;

void check_ids(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  for (const int32_t id : ids) require(id >= 0 && id < tokenizer.size(), "ids are of the vocabulary");
  tokenizer.decode(ids);
}

void sample(const Tokenizer& tokenizer, const SubwordSampler& sampler, const std::vector<int32_t>& ids) {
  CounterRandom random{1};
  check_ids(tokenizer, sampler.sample(ids, random));
}

}  // namespace

NMT_FUZZ_TARGET(sentencepiece, input) {
  const std::string model(input);
  read_sentencepiece_settings(model);
  std::vector<convert::Piece> pieces;
  if (fuzz::takes([&] { pieces = convert::read_pieces(model, "x.model"); }) && pieces.size() >= 4)
    fuzz::takes([&] { SentencePieceTokenizer(convert::with_pieces(model, pieces), "y.model"); });
  std::unique_ptr<SentencePieceTokenizer> tokenizer;
  if (!fuzz::takes([&] { tokenizer = std::make_unique<SentencePieceTokenizer>(model, "x.model"); })) return;
  const std::string own(input.substr(0, 100));
  std::vector<int32_t> all;
  for (int32_t id = 0; id < tokenizer->size() && id < 300; ++id) {
    tokenizer->piece(id);
    all.push_back(id);
  }
  check_ids(*tokenizer, all);
  for (const std::string& text : {std::string("a the cat  sat, \xEF\xBC\xA1\xEF\xAC\x81 \xC3\xA9\xE2\x96\x81"),
                                  std::string("\xFF\x00 a\nb", 6), std::string(), own}) {
    std::vector<int32_t> ids;
    if (!fuzz::takes([&] { ids = tokenizer->encode(text); })) continue;
    fuzz::takes([&] { check_ids(*tokenizer, ids); });
    fuzz::takes([&] { sample(*tokenizer, *make_bpe_dropout(*tokenizer, 0.3), ids); });
    fuzz::takes([&] { sample(*tokenizer, *make_unigram_sampler(*tokenizer, 0.5, -1), ids); });
    fuzz::takes([&] { sample(*tokenizer, *make_unigram_sampler(*tokenizer, 0.5, 4), ids); });
  }
}
