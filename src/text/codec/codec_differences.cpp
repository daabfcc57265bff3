#include "text/codec/codec_differences.h"

#include <fmt/format.h>

#include "text/sentencepiece/sentencepiece_tokenizer.h"

namespace nmt {
namespace {

std::string tokenizer_difference(const Tokenizer& theirs, const Tokenizer& ours) {
  if (theirs.size() != ours.size())
    return fmt::format("the vocabulary has {} entries there and {} here", theirs.size(), ours.size());
  for (int32_t id = 0; id < ours.size(); ++id)
    if (theirs.piece(id) != ours.piece(id))
      return fmt::format("entry {} of the vocabulary is '{}' there and '{}' here", id, theirs.piece(id),
                         ours.piece(id));
  const auto* a = dynamic_cast<const SentencePieceTokenizer*>(&theirs);
  const auto* b = dynamic_cast<const SentencePieceTokenizer*>(&ours);
  if (!a != !b || (a && a->serialized() != b->serialized()))
    return "the tokenizers have the same vocabulary but cut text in other ways";
  return "";
}

}  // namespace

std::vector<std::string> codec_differences(const TextCodec& theirs, const TextCodec& ours) {
  const auto &a = theirs.options(), &b = ours.options();
  std::vector<std::string> found;
  const auto compare = [&](const char* option, const auto& there, const auto& here) {
    if (there != here) found.push_back(fmt::format("{} is {} there and {} here", option, there, here));
  };
  const auto characters = [](bool latin_only) { return latin_only ? "latin" : "all"; };
  compare("data.lowercase", a.lowercase, b.lowercase);
  compare("data.nfkc", a.nfkc, b.nfkc);
  compare("data.characters", std::string(characters(a.latin_only)), std::string(characters(b.latin_only)));
  compare("data.source_markers", name_of(a.source_markers), name_of(b.source_markers));
  compare("data.reverse_source", a.reverse_source, b.reverse_source);
  for (const auto& [side, there, here] :
       {std::tuple("source", &theirs.source(), &ours.source()), std::tuple("target", &theirs.target(), &ours.target())})
    if (const auto difference = tokenizer_difference(*there, *here); !difference.empty())
      found.push_back(fmt::format("{}: {}", side, difference));
  return found;
}

}  // namespace nmt
