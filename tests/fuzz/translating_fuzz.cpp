// Random text through what stands between a user's bytes and the model: readers, input formats, sentences, tokenizers,
// words of pieces, alignments and output formats. Built as scoring_fuzz.cpp is: with clang a libFuzzer target,
// elsewhere the same checks on made-up text: translating_fuzz [SECONDS [SEED]].
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/line_reader.h"
#include "base/files/strict_json.h"
#include "base/unicode.h"
#include "fuzz.h"
#include "text/codec/word_pieces.h"
#include "text/sentence_splitter.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/words.h"
#include "translation/line_formats.h"
#include "translation/lines/word_alignment.h"

namespace {

using namespace nmt;

using fuzz::require;

TextCodec codec_of_pieces(bool lowercase) {
  static const auto both = [] {
    std::vector<std::string> lines;
    for (int i = 0; i < 200; ++i)
      lines.push_back("the cat sat on mat " + std::to_string(i) + " die Katze saß. Über, é!");
    return std::make_shared<SentencePieceTokenizer>(*train_sentencepiece(lines, {.vocab_size = 80}), "fuzz");
  }();
  return {{.lowercase = lowercase, .nfkc = lowercase}, both, both};
}

TextCodec codec_of_words() {
  static const auto both = std::make_shared<WordTokenizer>("<PAD>\t0\n<UNK>\t0\n<S>\t0\n</S>\t0\nthe\t9\ncat\t9\n",
                                                           "fuzz", WordLimits{.min_count = 1, .max_size = 100});
  return {{}, both, both};
}

/// First bytes that are no text's: of gzip, which is unpacked, and of what is refused.
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kUtf16[] = {"\xff\xfe", "\xfe\xff"};
constexpr std::string_view kRefused[] = {
    "\xfd"
    "7zXZ",
    "BZh",
    "\x28\xb5\x2f\xfd",
    "PK\x03\x04",
    kUtf16[0],
    kUtf16[1]};

void check_reader(const std::string& bytes) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || write(descriptor, bytes.data(), bytes.size()) != std::ssize(bytes)) std::exit(1);
  try {
    LineReader reader("/proc/self/fd/" + std::to_string(descriptor));
    int64_t lines = 0;
    while (reader.next()) ++lines;
    const auto expected = std::ranges::count(bytes, '\n') + (!bytes.empty() && bytes.back() != '\n');
    require(bytes.starts_with(kGzip) || lines == expected, "every line is read", bytes);
    require(!std::ranges::any_of(kUtf16, [&](auto mark) { return bytes.starts_with(mark); }), "UTF-16 is refused",
            bytes);
  } catch (const Error& error) {
    require(
        bytes.starts_with(kGzip) || std::ranges::any_of(kRefused, [&](auto magic) { return bytes.starts_with(magic); }),
        "plain text is read", bytes);
  }
  close(descriptor);
}

void check_sentences(const SentenceSplitter& splitter, std::string_view text) {
  std::string joined;
  for (const auto sentence : splitter.split(text)) {
    require(!sentence.empty() && strip(sentence) == sentence, "sentences have no white space at their ends", text);
    joined.append(sentence).push_back('\n');  // halves of a character must not meet and become a space
  }
  require(fuzz::without_white_space(joined) == fuzz::without_white_space(text), "sentences lose nothing", text);
}

void check_request(const std::string& line, InputFormat format) {
  try {
    const auto request = parse_request(line, format);
    for (const auto& phrase : request.must)
      require(strip(phrase) == phrase && !phrase.empty(), "phrases are bare", line);
  } catch (const Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "messages are one line", line);
  }
}

/// Checks the codec as if a model had written random pieces for the text.
void check_codec(const TextCodec& codec, const std::string& text, std::mt19937_64& random) {
  const auto source = codec.encode_source(text);
  for (const int32_t id : source) require(id >= 0 && id < codec.source().size(), "ids are of the vocabulary", text);
  const auto words = source_words(codec, text, source);
  require(words.word_of_piece.size() == source.size(), "each piece has a word", text);
  require(std::ranges::is_sorted(words.word_of_piece), "words are in order", text);
  if (source.empty() || source.size() > 300) return;

  std::vector<int32_t> target(random() % 30);
  for (auto& id : target) id = static_cast<int32_t>(random() % codec.target().size());
  Translation translation;
  translation.alternatives = {{.text = codec.decode_target(target), .tokens = std::ssize(target) + 1}};
  auto& alternative = translation.alternatives.front();
  std::vector<float> attention((target.size() + 1) * source.size());
  for (auto& weight : attention) weight = static_cast<float>(random() % 1000) / 1000;
  alternative.parts = {{.source = source, .target = target, .attention = std::move(attention)}};
  copy_unknown_words(codec, text, translation);

  std::vector<std::string_view> written, read;
  split_words(alternative.text, written);
  split_words(text, read);
  const auto parts = word_attention(codec, text, alternative);
  for (const auto& part : parts) {
    require(part.first_source >= 0 && part.first_source + std::ssize(part.grid.keys) <= std::ssize(read),
            "alignments are of words of the source", text);
    require(part.first_target + std::ssize(part.grid.queries) <= std::ssize(written),
            "alignments are of words of the translation", text);
  }
  const OutputItem item{.number = 1, .source = text, .translation = translation};
  using enum OutputColumn;
  const OutputOptions columns{
      .columns = {kLine, kRank, kScore, kTokens, kSource, kTranslation, kTokenScores, kAlignment},
      .all_alternatives = true};
  const auto line = format_item(item, codec, columns);
  require(std::ranges::count(line, '\t') == 7, "there are eight columns", text);
  auto json_lines = columns;
  json_lines.format = OutputFormat::kJsonLines;
  require(nlohmann::json::parse(format_item(item, codec, json_lines)).is_object(), "JSON is JSON", text);
}

void check(std::string_view input) {
  const unsigned choice = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  const std::string bytes(input.substr(std::min<size_t>(1, input.size())));
  const std::string text = repair_utf8(bytes);
  std::mt19937_64 random(choice + 256 * bytes.size());
  static const SentenceSplitter english("en"), german("de"), any("");
  check_reader(bytes);
  for (const auto* splitter : {&english, &german, &any}) {
    check_sentences(*splitter, bytes);
    check_sentences(*splitter, text);
  }
  check_request(text, InputFormat::kTsv);
  check_request(text, InputFormat::kJson);
  check_request("{\"source\": \"a\", \"must\": [" + text + "]}", InputFormat::kJson);
  check_codec(codec_of_pieces(choice % 2), text, random);
  check_codec(codec_of_words(), text, random);
  codec_of_pieces(choice % 2).source().encode(bytes);  // any bytes are taken
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef NMT_WITH_LIBFUZZER
namespace {

// Parts of the kinds that readers, splitters and tokenizers treat in special ways.
const std::vector<std::string> kParts = {
    " ",        "\n",       "\t",         "\r\n",    "|",       "\u00a0",        "\u3000",   "\u200b",
    "\u2581",   "\u2028",   ". ",         "! ",      "? \"",    "z. B. ",        "3. ",      "Dr. ",
    "...",      "the ",     "cat",        "Über",    "e\u0301", "\u00b4",        "\u3002",   "\u4e2d",
    "\u0301",   "\u202e",   "\U0001f600", "<unk>",   "</s>",    "{\"source\": ", "\"must\"", ": [",
    "]}",       "\"a\"",    ", ",         "\\u0000", "\\ud800", "\xff",          "\xe2\x82", std::string(1, '\0'),
    "\xff\xfe", "\xfe\xff", "PK\x03\x04", "\x1f\x8b"};

}  // namespace

int main(int argc, char** argv) { return fuzz::run("translating_fuzz", argc, argv, kParts, check); }
#endif
