// Random text through what stands between a user's bytes and the model: readers, input formats, sentences, tokenizers,
// words of pieces, alignments and output formats. Built as scoring_fuzz.cpp is: with clang a libFuzzer target,
// elsewhere the same checks on made-up text: translating_fuzz [SECONDS [SEED]].
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/line_reader.h"
#include "base/unicode.h"
#include "base/words.h"
#include "decoding/input_format.h"
#include "decoding/output_format.h"
#include "decoding/word_alignment.h"
#include "text/sentence_splitter.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/sentencepiece_trainer.h"
#include "text/word_pieces.h"
#include "text/word_tokenizer.h"

namespace {

using namespace nmt;

void require(bool holds, const char* what, std::string_view input) {
  if (holds) return;
  std::fprintf(stderr, "translating_fuzz: not so: %s\ninput:", what);
  for (const unsigned char c : input) std::fprintf(stderr, " %02x", c);
  std::fprintf(stderr, "\n");
  std::abort();
}

std::string without_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  split_words(text, words);
  std::string result;
  for (const auto word : words) result += word;
  return result;
}

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

void check_reader(const std::string& bytes) {
  const int descriptor = memfd_create("fuzz", 0);
  if (descriptor < 0 || write(descriptor, bytes.data(), bytes.size()) != std::ssize(bytes)) std::exit(1);
  try {
    LineReader reader("/proc/self/fd/" + std::to_string(descriptor));
    int64_t lines = 0;
    while (reader.next()) ++lines;
    const auto expected = std::ranges::count(bytes, '\n') + (!bytes.empty() && bytes.back() != '\n');
    require(bytes.starts_with("\x1f\x8b") || lines == expected, "every line is read", bytes);
  } catch (const Error& error) {
    require(bytes.starts_with("\x1f\x8b"), "only gzip is damaged", bytes);
  }
  close(descriptor);
}

void check_sentences(const SentenceSplitter& splitter, std::string_view text) {
  std::string joined;
  for (const auto sentence : splitter.split(text)) {
    require(!sentence.empty() && strip(sentence) == sentence, "sentences have no white space at their ends", text);
    joined += sentence;
  }
  require(without_spaces(joined) == without_spaces(text), "sentences lose nothing", text);
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

/// As if a model had written random pieces for the text.
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

/// Bytes that are mostly text of the kinds that readers, splitters and tokenizers treat in special ways.
std::string random_input(std::mt19937_64& random) {
  static const std::vector<std::string> parts = {
      " ",      "\n",     "\t",         "\r\n",    "|",       "\u00a0",        "\u3000",   "\u200b",
      "\u2581", "\u2028", ". ",         "! ",      "? \"",    "z. B. ",        "3. ",      "Dr. ",
      "...",    "the ",   "cat",        "Über",    "e\u0301", "\u00b4",        "\u3002",   "\u4e2d",
      "\u0301", "\u202e", "\U0001f600", "<unk>",   "</s>",    "{\"source\": ", "\"must\"", ": [",
      "]}",     "\"a\"",  ", ",         "\\u0000", "\\ud800", "\xff",          "\xe2\x82", std::string(1, '\0')};
  std::string input(1, static_cast<char>(random()));
  const size_t count = random() % (random() % 50 == 0 ? 2000 : 40);
  for (size_t i = 0; i < count; ++i) {
    switch (random() % 8) {
      case 0:
        input += static_cast<char>(random());
        break;
      case 1:
        input += to_utf8(std::u32string(1, static_cast<char32_t>(random() % 0x110000)));
        break;
      default:
        input += parts[random() % parts.size()];
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  std::printf("translating_fuzz: %g seconds, seed %llu\n", seconds, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  std::mt19937_64 random(seed);
  const auto start = std::chrono::steady_clock::now();
  int64_t rounds = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    check(random_input(random));
    ++rounds;
  }
  std::printf("translating_fuzz: %lld inputs, nothing wrong\n", static_cast<long long>(rounds));
  return rounds > 0 ? 0 : 1;
}
#endif
