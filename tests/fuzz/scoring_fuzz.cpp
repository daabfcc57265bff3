// Feeds made-up bytes to the tokenisers, the metrics and the corpus reader of the scorer, and checks what must hold for
// any text. With clang this is a libFuzzer target; elsewhere a program of its own: scoring_fuzz [SECONDS] [SEED].
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "fuzz.h"
#include "scoring/command/scored_corpus_reader.h"
#include "scoring/corpus/corpus_score.h"
#include "scoring/metrics/bleu.h"
#include "scoring/metrics/chrf.h"
#include "scoring/metrics/ter.h"
#include "scoring/tokenizers/tokenizers.h"
#include "scoring/tokenizers/western_rules.h"

namespace {

using namespace nmt::scoring;

using nmt::fuzz::require;
using nmt::fuzz::without_white_space;

/// Tokenisers add white space and take none of the text away (13a but for its escapes).
void check_tokenizers(const std::string& text) {
  static const std::vector<std::shared_ptr<const BleuTokenizer>> tokenizers = [] {
    std::vector<std::shared_ptr<const BleuTokenizer>> made;
    for (const std::string name : {"none", "13a", "zh", "intl", "char"}) made.push_back(make_tokenizer(name));
    return made;
  }();
  const std::string plain = without_white_space(text);
  for (const auto& tokenizer : tokenizers) {
    std::string tokens;
    tokenizer->tokenize(std::string_view(text), tokens);
    require(!nmt::find_invalid_utf8(tokens), "tokens are UTF-8", text);
    const bool rewrites = tokenizer->signature() == "13a" && text.find_first_of("<&\n") != std::string::npos;
    require(rewrites || without_white_space(tokens) == plain, "tokens keep the text", text);
  }
}

void check_metric(const Metric& metric, const std::string& hypothesis, const std::string& reference, double perfect) {
  const std::vector<std::string> references = {reference, hypothesis};
  const double score = score_sentence(metric, hypothesis, references).score;
  require(score >= 0, "scores are not negative", hypothesis);
  const bool has_words = !without_white_space(hypothesis).empty();
  // One of the references is the hypothesis itself.
  require(!has_words || perfect < 0 || std::abs(score - perfect) < 1e-6 || score == 0, "a copy is perfect", hypothesis);
  score_sentence(metric, hypothesis, std::vector{reference});
}

void check_metrics(const std::string& hypothesis, const std::string& reference, unsigned choice) {
  const bool flag = choice & 1, other = choice & 2, third = choice & 4;
  const std::string tokenizer = tokenizer_names()[choice % 5];
  check_metric(
      Bleu({.tokenizer = tokenizer == "ja-mecab" ? "13a" : tokenizer, .lowercase = flag, .effective_order = true}),
      hypothesis, reference, -1);
  check_metric(Chrf({.word_order = other ? 2 : 0, .lowercase = flag, .whitespace = third}), hypothesis, reference, 100);
  // A normalised reference is prepared twice, so that a copy need not be perfect.
  check_metric(Ter({.normalized = other, .no_punctuation = third, .asian_support = flag, .case_sensitive = third}),
               hypothesis, reference, other ? -1 : 0);
}

/// Bytes as a file that can be opened by name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      std::perror("scoring_fuzz: memfd");
      std::exit(1);
    }
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check_reader(const std::string& bytes, unsigned choice) {
  const MemoryFile file(bytes);
  const int64_t fields = choice % 4;
  const bool is_gzip = bytes.starts_with("\x1f\x8b");
  try {
    CorpusReader reader({.references = {file.path()}, .fields = fields, .systems = {file.path()}});
    SegmentBlock block;
    int64_t lines = 0;
    while (reader.next(block)) lines += block.size();
    const auto expected = std::count(bytes.begin(), bytes.end(), '\n') + (!bytes.empty() && bytes.back() != '\n');
    require(is_gzip || lines == expected, "every line is read", bytes);
    require(is_gzip || !nmt::find_invalid_utf8(bytes), "only UTF-8 is read", bytes);
  } catch (const nmt::Error& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos, "messages are one line", bytes);
  }
}

void check_decoder(const std::string& bytes, unsigned choice) {
  static const char* const encodings[] = {"latin-1", "utf-16", "shift_jis", "gb18030", "cp1252", "ascii", "utf-7"};
  const MemoryFile file(bytes);
  try {
    CorpusReader reader(
        {.references = {file.path()}, .systems = {file.path()}, .encoding = encodings[choice % std::size(encodings)]});
    SegmentBlock block;
    while (reader.next(block)) {
      for (const auto line : block.references.front())
        require(!nmt::find_invalid_utf8(line), "decoded text is UTF-8", bytes);
    }
  } catch (const nmt::Error&) {
  }
}

/// Segment scorers trust their text to be UTF-8, but must stay within it if it is not.
void check_bad_bytes(std::string_view bytes) {
  const std::string_view half = bytes.substr(0, bytes.size() / 2);
  for (const Metric* metric : std::initializer_list<const Metric*>{
           new Bleu({.tokenizer = "intl"}), new Bleu({.tokenizer = "zh"}), new Chrf({.word_order = 2}),
           new Ter({.normalized = true, .no_punctuation = true, .asian_support = true, .case_sensitive = true})}) {
    const std::unique_ptr<const Metric> owned(metric);
    const auto scorer = metric->segment_scorer();
    std::vector<double> statistics(metric->columns());
    scorer->set_references({&half, 1});
    scorer->statistics(bytes, statistics);
  }
}

void check(std::string_view input) {
  const unsigned choice = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  const std::string bytes(input.substr(std::min<size_t>(1, input.size())));
  const std::string text = nmt::repair_utf8(bytes);
  const size_t half = text.size() / 2;
  check_tokenizers(text);
  check_metrics(text, nmt::repair_utf8(text.substr(half) + text.substr(0, half / 2)), choice);
  check_metrics(nmt::repair_utf8(text.substr(0, half)), text, choice >> 3);
  check_reader(bytes, choice);
  check_decoder(bytes, choice);
  check_bad_bytes(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  check({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifndef NMT_WITH_LIBFUZZER
namespace {

// Parts of the kinds that tokenisers treat in special ways.
const std::vector<std::string> kParts = {" ",
                                         "\n",
                                         "\t",
                                         "\r\n",
                                         "\xC2\xA0",
                                         "\xE3\x80\x80",
                                         "\xE2\x80\x8B",
                                         ".",
                                         ",",
                                         "-",
                                         "..",
                                         "1",
                                         "23",
                                         "'s ",
                                         "&quot;",
                                         "&amp;",
                                         "&lt;",
                                         "&amp;lt;",
                                         "<skipped>",
                                         "-\n",
                                         "\n-",
                                         "the",
                                         "The cat",
                                         "U.S.",
                                         "3.5",
                                         "\xC3\xA9",
                                         "e\xCC\x81",
                                         "\xCE\xA3",
                                         "\xC4\xB0",
                                         "\xE4\xB8\xAD",
                                         "\xE3\x81\x82",
                                         "\xE3\x82\xA2",
                                         "\xE3\x80\x82",
                                         "\xEF\xBC\x8C",
                                         "\xF0\x9F\x98\x80",
                                         "\xF0\xA0\xAE\xB7",
                                         "\xD7\xA9\xD6\xB8",
                                         "\xD8\x9F",
                                         "\x1f\x8b\x08",
                                         "\xFF",
                                         "\xED\xA0\x80",
                                         "\xF4\x90\x80\x80",
                                         "(",
                                         ")",
                                         "\"",
                                         "!",
                                         "?",
                                         "$",
                                         "\xE2\x82\xAC"};

}  // namespace

int main(int argc, char** argv) { return nmt::fuzz::run("scoring_fuzz", argc, argv, kParts, check); }
#endif
