// Sentences a second of what nmt-prepro does with a corpus: encoding on all cores (as it is done, and by SentencePiece
// alone), writing, and planning an epoch; and of subword sampling in training. Usage: encode_bench SOURCE TARGET
// SPM_MODEL [THREADS] The texts may be gzipped; the first 200,000 pairs are read. Prints the median of five runs.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "base/error.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/threads.h"
#include "data/batches.h"
#include "data/preparation/encoder.h"
#include "data/preparation/prepared_corpus_writer.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/subword_sampler.h"

namespace {

using namespace nmt;

constexpr int kRuns = 5;
constexpr int64_t kMostPairs = 200000;

double median_seconds(const std::function<void()>& body) {
  body();  // warm-up
  std::vector<double> seconds;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRuns / 2];
}

void print(const std::string& what, int64_t sentences, double seconds) {
  fmt::print("{:<44} {:>12} sentences/s  ({:.3f} s)\n", what,
             with_commas(static_cast<int64_t>(static_cast<double>(sentences) / seconds)), seconds);
}

int run(const CorpusFiles& files, const std::filesystem::path& model, int threads) {
  const auto tokenizer = SentencePieceTokenizer::load(model);
  const TextCodec codec({}, tokenizer, tokenizer);
  std::vector<EncodedPair> pairs;
  const CorpusEncoder encoder(codec, {.threads = threads});
  const auto encode = [&] {
    pairs.clear();
    CorpusReader reader(files, {.utf8 = Utf8Policy::kRepair});
    encoder.run(
        reader, [&](EncodedPair& pair) { pairs.push_back(std::move(pair)); },
        [&] { return static_cast<int64_t>(pairs.size()) >= kMostPairs; });
  };
  const double encoding = median_seconds(encode);
  const auto sentences = 2 * static_cast<int64_t>(pairs.size());
  print(fmt::format("read and encode, {} threads", threads), sentences, encoding);

  std::vector<std::vector<int32_t>> direct(pairs.size());
  const double alone = median_seconds([&] {
    for (size_t i = 0; i < pairs.size(); ++i) direct[i] = tokenizer->encode(pairs[i].text.source);
  });
  print("SentencePiece alone, 1 thread", sentences / 2, alone);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (direct[i] != pairs[i].source) throw MachineError(fmt::format("pair {}: other ids than SentencePiece's", i));
  }

  const auto sample = [&](const std::string& what, const SubwordSampler& sampler) {
    const double sampling = median_seconds([&] {
      for (size_t i = 0; i < pairs.size(); ++i) {
        CounterRandom random({i});
        sampler.sample(pairs[i].source, random);
      }
    });
    print(what + ", 1 thread", sentences / 2, sampling);
  };
  if (read_sentencepiece_settings(tokenizer->serialized()).is_bpe) {
    sample("BPE-dropout 0.1", *make_bpe_dropout(*tokenizer, 0.1));
  } else {
    sample("subword sampling among all", *make_unigram_sampler(*tokenizer, 0.2, 0));
    sample("subword sampling among 10", *make_unigram_sampler(*tokenizer, 0.2, 10));
  }

  const auto path = std::filesystem::temp_directory_path() / fmt::format("encode_bench.{}.bin", ::getpid());
  const double writing = median_seconds([&] {
    PreparedCorpusWriter writer(path);
    for (const auto& pair : pairs) writer.add({pair.source, pair.target, pair.text.source, pair.text.target, 0});
    writer.finish();
  });
  print("write", sentences, writing);
  {
    const PreparedCorpus corpus(path);
    double real = 0, padded = 0;
    const double planning = median_seconds([&] { plan_epoch(corpus, {BatchType::kTokens, 4096, 1}, 0); });
    print("plan an epoch, batches of 4,096 tokens", sentences, planning);
    for (const auto& batch_pairs : plan_epoch(corpus, {BatchType::kTokens, 4096, 1}, 0)) {
      const Batch batch = make_batch(corpus, batch_pairs);
      real += static_cast<double>(batch.source_tokens + batch.target_tokens);
      padded += static_cast<double>(batch.size * (batch.source_width + batch.target_width));
    }
    fmt::print("{:<44} {:>12.1f} %\n", "real tokens in these batches", 100 * real / padded);
  }
  std::filesystem::remove(path);
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return run_app("encode_bench", [&] {
    if (argc < 4) throw Error("usage: encode_bench SOURCE TARGET SPM_MODEL [THREADS]");
    return run({argv[1], argv[2], "SOURCE", "TARGET"}, argv[3], argc > 4 ? std::atoi(argv[4]) : default_threads());
  });
}
