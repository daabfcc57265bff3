// An epoch of a very large corpus: what its plan and its stream take. Makes a corpus of PAIRS short pairs in FOLDER
// (some 72 bytes each, twice as many while it is written), streams one epoch of it from the beginning to the end, and
// the rest of it from a place in the middle; removes it.
// Usage: [NMT_LARGE_CORPUS_PAIRS=PAIRS] large_corpus FOLDER
// Exit code 1 where the process had more than 1 GB of anonymous memory, a pair did not come exactly once, or the rest
// was another.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/random.h"
#include "data/batch_stream.h"
#include "data/preparation/prepared_corpus_writer.h"

namespace {

using namespace nmt;
using Clock = std::chrono::steady_clock;

constexpr int32_t kVocabulary = 32000;
constexpr double kMostMegabytes = 1000;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Memory of this process that no file stands behind.
int64_t anonymous_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kilobytes = 0;
    if (word == "RssAnon:" && status >> kilobytes) return kilobytes << 10;
  }
  throw MachineError("/proc/self/status: names no RssAnon");
}

/// The most anonymous memory in the lifetime of the object, looked at a hundred times a second.
class MemoryWatch {
 public:
  ~MemoryWatch() {
    stop_ = true;
    thread_.join();
  }
  double megabytes() const { return static_cast<double>(peak_) / 1e6; }

 private:
  void watch() {
    while (!stop_) {
      peak_ = std::max<int64_t>(peak_, anonymous_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> peak_ = 0;
  std::thread thread_{[this] { watch(); }};
};

/// Pairs of 1 to 8 pieces a side, without text.
void make_corpus(const std::filesystem::path& path, int64_t pairs) {
  PreparedCorpusWriter writer(path);
  CounterRandom random({1});
  std::vector<int32_t> source, target;
  const auto draw = [&](std::vector<int32_t>& ids) {
    ids.resize(1 + random.below(8));
    for (int32_t& id : ids) id = static_cast<int32_t>(random.below(kVocabulary));
  };
  for (int64_t pair = 0; pair < pairs; ++pair) {
    draw(source), draw(target);
    writer.add({.source = source, .target = target, .source_text = {}, .target_text = {}, .corpus = 0});
  }
  writer.finish();
}

/// A number that differs where the pairs of two batches do.
uint64_t mark_of(const Batch& batch) {
  uint64_t mark = 0;
  for (const int64_t pair : batch.indices) mark = mix64(mark + static_cast<uint64_t>(pair));
  return mark;
}

struct Epoch {
  BatchPosition middle;
  std::vector<uint64_t> after_middle;  // marks of some batches
};

/// Streams an epoch. Throws MachineError where a pair is not in it exactly once.
Epoch stream_epoch(BatchStream& stream, int64_t pairs, double planned) {
  Epoch epoch;
  std::vector<bool> seen(static_cast<size_t>(pairs));
  const auto start = Clock::now();
  double longest_wait = 0;
  int64_t batches = 0, taken = 0;
  while (stream.position().epoch == 0) {
    if (taken >= pairs / 2 && epoch.after_middle.empty()) epoch.middle = stream.position();
    const auto wait = Clock::now();
    const Batch batch = stream.next();
    longest_wait = std::max(longest_wait, seconds_since(wait));
    for (const int64_t pair : batch.indices) {
      if (seen[static_cast<size_t>(pair)]) throw MachineError(fmt::format("pair {} came twice", pair));
      seen[static_cast<size_t>(pair)] = true;
    }
    ++batches, taken += batch.size;
    if (epoch.middle.batch > 0 && epoch.after_middle.size() < 100) epoch.after_middle.push_back(mark_of(batch));
  }
  if (taken != pairs) throw MachineError(fmt::format("{} pairs came, {} are there", taken, pairs));
  fmt::print("an epoch: {} batches in {:.1f} s, the longest wait for one {:.2f} s; the first plan {:.2f} s\n",
             with_commas(batches), seconds_since(start), longest_wait, planned);
  return epoch;
}

int run(const std::filesystem::path& folder, int64_t pairs) {
  const auto path = folder / "large_corpus.bin";
  auto start = Clock::now();
  make_corpus(path, pairs);
  fmt::print("{} pairs, {} bytes, written in {:.1f} s\n", with_commas(pairs),
             with_commas(static_cast<int64_t>(std::filesystem::file_size(path))), seconds_since(start));
  start = Clock::now();
  const auto corpus = std::make_shared<const PreparedCorpus>(path);
  std::filesystem::remove(path);  // mapped: gone with the process
  const BatchOptions options{.type = BatchType::kTokens, .size = 4096, .seed = 1};
  fmt::print("opened in {:.2f} s; {} shards\n", seconds_since(start), shards_of_epoch(*corpus, options));
  const double before = static_cast<double>(anonymous_bytes()) / 1e6;
  const MemoryWatch memory;
  start = Clock::now();
  auto stream = std::make_unique<BatchStream>(corpus, options);
  const auto epoch = stream_epoch(*stream, pairs, seconds_since(start));
  stream.reset();
  start = Clock::now();
  BatchStream resumed(corpus, options, epoch.middle);
  for (const uint64_t mark : epoch.after_middle)
    if (mark_of(resumed.next()) != mark) throw MachineError("the rest of a resumed epoch is another");
  fmt::print("resumed in the middle, the same rest: {:.2f} s\n", seconds_since(start));
  fmt::print("anonymous memory: {:.0f} MB before, at most {:.0f} MB\n", before, memory.megabytes());
  if (memory.megabytes() > kMostMegabytes)
    throw MachineError(fmt::format("more than {} MB of anonymous memory", kMostMegabytes));
  return kDone;
}

}  // namespace

int main(int argc, char** argv) {
  return run_app("large_corpus", [&] {
    if (argc < 2) throw Error("usage: [NMT_LARGE_CORPUS_PAIRS=PAIRS] large_corpus FOLDER");
    const char* pairs = std::getenv("NMT_LARGE_CORPUS_PAIRS");
    return run(argv[1], pairs ? std::atoll(pairs) : 20'000'000);
  });
}
