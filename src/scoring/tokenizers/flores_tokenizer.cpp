#include "scoring/tokenizers/flores_tokenizer.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/sha256.h"
#include "text/sentencepiece/load_sentencepiece.h"

namespace nmt::scoring {
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

}  // namespace nmt::scoring
