#pragma once

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "text/codec/codec.h"

namespace nmt::test {

/// Words separated by spaces, in a fixed list; others are <unk>.
class WordTokenizer final : public Tokenizer {
 public:
  explicit WordTokenizer(std::vector<std::string> words) : pieces_{"<pad>", "<unk>", "<s>", "</s>"} {
    pieces_.insert(pieces_.end(), words.begin(), words.end());
    for (size_t id = 0; id < pieces_.size(); ++id) ids_[pieces_[id]] = static_cast<int32_t>(id);
  }
  int64_t size() const override { return std::ssize(pieces_); }
  std::vector<int32_t> encode(std::string_view text) const override {
    std::istringstream words{std::string(text)};
    std::vector<int32_t> result;
    for (std::string word; words >> word;) {
      const auto found = ids_.find(word);
      result.push_back(found == ids_.end() ? SpecialIds::kUnknown : found->second);
    }
    return result;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) text += (text.empty() ? "" : " ") + pieces_.at(id);
    return text;
  }
  std::string piece(int32_t id) const override { return pieces_.at(id); }

 private:
  std::vector<std::string> pieces_;
  std::map<std::string, int32_t> ids_;
};

/// a = 4, b = 5, c = 6 and so on, on both sides.
inline TextCodec word_codec(const std::vector<std::string>& words) {
  const auto tokenizer = std::make_shared<WordTokenizer>(words);
  return TextCodec({}, tokenizer, tokenizer);
}

}  // namespace nmt::test
