#include "text/sentencepiece/sentencepiece_trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sentencepiece_trainer.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <locale>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/protocol_buffer.h"
#include "base/threads.h"
#include "text/tokenizer.h"

namespace nmt {
namespace {

constexpr uint64_t kPurpose = 0x73616d706c65;  // "sample": apart from other uses of the run's seed

}  // namespace

SentenceSample::SentenceSample(int64_t capacity, uint64_t seed) : capacity_(capacity), random_({kPurpose, seed}) {}

void SentenceSample::offer(std::string_view line) {
  ++offered_;
  if (capacity_ == 0 || offered_ <= capacity_) {
    lines_.emplace_back(line);
    return;
  }
  const uint64_t slot = random_.below(static_cast<uint64_t>(offered_));
  if (slot < static_cast<uint64_t>(capacity_)) lines_[slot] = line;
}

namespace {

/// SentencePiece stores positions in a word in 16 bits and ends the program beyond: NFKC makes at most 18 characters of
/// one of 3 bytes, so a line of this many bytes stays below.
constexpr size_t kLongestLine = 10000;
constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585: SentencePiece's mark of an unknown character
constexpr int64_t kLinesPerThread = 10000;

using Counts = std::unordered_map<std::string_view, int64_t>;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Spaces between words are the trainer's only bounds that it does not make itself, unless a symbol reaches over one.
bool trains_on_words(const SentencePieceOptions& options) {
  return options.type == "bpe" && std::ranges::none_of(options.user_symbols, [](const std::string& symbol) {
           return contains(symbol, " ") || contains(symbol, "\t") || contains(symbol, kSpaceMark);
         });
}

/// A line with the mark of a space stays whole: the trainer takes such marks for spaces, but those at a line's end it
/// removes.
void count(std::string_view line, Counts& counts) {
  if (contains(line, kSpaceMark)) {
    ++counts[line];
    return;
  }
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) ++counts[line.substr(begin, end - begin)];
    begin = end + 1;
  }
}

}  // namespace

bool sentencepiece_skips(std::string_view line) { return line.size() > kLongestLine || contains(line, kReserved); }

void TrainingText::count_words(const SentencePieceOptions& options, int threads) {
  if (counted_bytes > 0 || !trains_on_words(options)) return;
  const bool tabs_are_spaces = options.normalization.starts_with("nmt_");  // they normalise them so
  for (auto& line : lines) {
    if (!contains(line, "\t")) continue;
    if (!tabs_are_spaces) return;  // it would be read as the end of the word
    std::ranges::replace(line, '\t', ' ');
  }
  std::mutex mutex;
  Counts all;
  size_t bytes = 0;
  parallel_for(std::ssize(lines), kLinesPerThread, threads, [&](int64_t begin, int64_t end) {
    Counts own;
    size_t own_bytes = 0;
    for (int64_t i = begin; i < end; ++i) {
      const std::string& line = lines[static_cast<size_t>(i)];
      own_bytes += line.size();
      if (!sentencepiece_skips(line)) count(line, own);
    }
    const std::lock_guard lock(mutex);
    bytes += own_bytes;
    if (all.empty()) return all.swap(own);
    for (const auto& [word, number] : own) all[word] += number;
  });
  if (all.empty()) return;  // the trainer says why it can learn nothing
  std::vector<std::string> words;
  words.reserve(all.size());
  for (const auto& [word, number] : all) words.push_back(std::string(word) + '\t' + std::to_string(number));
  std::ranges::sort(words);  // the same text for any number of threads
  lines = std::move(words);
  counted_bytes = bytes;
}

namespace {

/// SentencePiece's own default. Fixed, because unigram training sums floats per thread.
constexpr int kThreads = 16;
/// From so many bytes on SentencePiece needs its 64-bit suffix array (unigram).
constexpr size_t kLargeText = size_t{1} << 30;
constexpr int kPollMilliseconds = 100;
constexpr char kModel = 'M', kFailure = 'F';  // the first byte of the child's answer

class TextIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit TextIterator(const TrainingText& text) : lines_(text.lines), has_lines_(text.counted_bytes == 0) { skip(); }
  bool done() const override { return next_ == lines_.size(); }
  void Next() override {
    ++next_;
    skip();
  }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void skip() {
    while (has_lines_ && !done() && sentencepiece_skips(lines_[next_])) ++next_;
  }
  const std::vector<std::string>& lines_;
  bool has_lines_;
  size_t next_ = 0;
};

/// A list as SentencePiece reads it: comma-separated, quoted.
std::string comma_separated(const std::vector<std::string>& items) {
  std::string list;
  for (const auto& item : items) {
    if (!list.empty()) list += ',';
    list += '"';
    for (const char c : item) list += c == '"' ? "\"\"" : std::string(1, c);
    list += '"';
  }
  return list;
}

/// The symbols as pieces of a text, whose spaces are marks by then: a symbol with a space would never be found in it.
std::vector<std::string> with_space_marks(std::vector<std::string> symbols) {
  for (auto& symbol : symbols)
    for (size_t at = 0; (at = symbol.find(' ', at)) != std::string::npos; at += kSpaceMark.size())
      symbol.replace(at, 1, kSpaceMark);
  return symbols;
}

/// All that are pieces without being learnt; a tag with the mark that SentencePiece puts before a text.
std::vector<std::string> symbols_of(const SentencePieceOptions& options) {
  auto symbols = with_space_marks(options.user_symbols);
  for (const auto& tag : options.tags) symbols.push_back(std::string(kSpaceMark) + tag);
  return symbols;
}

std::unordered_map<std::string, std::string> trainer_arguments(const TrainingText& text,
                                                               const SentencePieceOptions& options) {
  size_t bytes = text.counted_bytes;
  if (bytes == 0)
    for (const auto& line : text.lines) bytes += line.size();
  return {{"input_format", text.counted_bytes > 0 ? "tsv" : "text"},
          {"model_type", options.type},
          {"vocab_size", std::to_string(options.vocab_size)},
          {"character_coverage", fmt::format("{}", options.character_coverage)},
          {"byte_fallback", options.byte_fallback ? "true" : "false"},
          {"user_defined_symbols", comma_separated(symbols_of(options))},
          {"normalization_rule_name", options.normalization},
          {"pad_id", "0"},
          {"unk_id", "1"},
          {"bos_id", "2"},
          {"eos_id", "3"},
          {"num_threads", std::to_string(kThreads)},
          {"minloglevel", "2"},
          {"max_sentence_length", "10000"},  // as sentencepiece_skips()
          {"train_extremely_large_corpus", bytes >= kLargeText ? "true" : "false"}};
}

/// The model says how the text was handed over, which is not the reader's concern: as if it had been lines.
std::string without_input_format(std::string_view model) {
  constexpr uint64_t kTrainerSpec = 2, kInputFormat = 7;  // sentencepiece_model.proto
  ProtocolMessage result;
  for_each_field(model, [&](const ProtocolField& field) {
    if (field.id != kTrainerSpec) {
      result.copy(field);
      return;
    }
    ProtocolMessage settings;
    for_each_field(field.bytes, [&](const ProtocolField& setting) {
      if (setting.id != kInputFormat) settings.copy(setting);
    });
    result.message(kTrainerSpec, settings);
  });
  return result.encoded();
}

/// What the child does: trains and answers 'M' and the model, or 'F' and a message.
std::string trained_or_failure(const TrainingText& text, const SentencePieceOptions& options) {
  try {
    TextIterator iterator(text);
    std::string model;
    const auto status = sentencepiece::SentencePieceTrainer::Train(trainer_arguments(text, options), &iterator, &model);
    return status.ok() ? kModel + without_input_format(model) : kFailure + status.ToString();
  } catch (const std::exception& error) {
    return kFailure + std::string(error.what());
  }
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent is gone
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

struct Pipe {
  FileDescriptor read_end, write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw MachineError("SentencePiece: cannot make a pipe (" + system_message(errno) + ")");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The child process; killed and waited for when it goes out of scope.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_;
};

/// The number that follows `words` in text, or 0.
int64_t number_after(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  int64_t number = 0;
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at + words.size(), text.data() + text.size(), number);
  }
  return number;
}

[[noreturn]] void throw_failure(std::string_view message, const SentencePieceOptions& options) {
  if (const int64_t max = number_after(message, "Please set it to a value <= ")) {
    throw Error(fmt::format("{}: {} is too large for the training text; at most {} is possible", options.option,
                            options.vocab_size, max));
  }
  if (message.find("smaller than required_chars") != std::string_view::npos) {
    const int64_t min = number_after(message, "required_chars. " + std::to_string(options.vocab_size) + " vs ");
    throw Error(
        fmt::format("{}: {} is too small for the characters of the training text; at least {} is needed, or a lower "
                    "data.character_coverage",
                    options.option, options.vocab_size, min));
  }
  if (message.find("sentences_.empty()") != std::string_view::npos) {
    throw Error("SentencePiece: the training text has no line to learn from; check the training files");
  }
  throw Error(fmt::format("SentencePiece: {}", message.substr(0, message.find('\n'))));
}

std::string finish(Child& child, std::string answer, const SentencePieceOptions& options) {
  const int status = child.wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty()) {
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    throw MachineError("SentencePiece's training ended early: " +
                       (killed ? "killed, probably for lack of memory; lower data.spm_sentences"
                               : fmt::format("wait status {}", status)));
  }
  const char kind = answer.front();
  answer.erase(0, 1);
  if (kind != kModel) throw_failure(answer, options);
  return answer;
}

}  // namespace

std::optional<std::string> train_sentencepiece(const TrainingText& text, const SentencePieceOptions& options,
                                               const std::function<bool()>& should_stop) {
  std::optional<Pipe> pipe(make_pipe());
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) throw MachineError("SentencePiece: cannot start a process (" + system_message(errno) + ")");
  if (id == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not left behind when this program is killed
    if (::getppid() != parent) ::_exit(1);
    const int nowhere = ::open("/dev/null", O_WRONLY);  // for its log
    ::dup2(nowhere, STDERR_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    std::locale::global(std::locale::classic());  // in which SentencePiece reads "0.9995"
    write_all(pipe->write_end.number(), trained_or_failure(text, options));
    ::_exit(0);
  }
  Child child(id);
  const FileDescriptor answer_end = std::move(pipe->read_end);
  pipe.reset();  // the end to write to is the child's alone: then its end is seen

  std::string answer;
  std::vector<char> buffer(64 << 10);
  pollfd end = {answer_end.number(), POLLIN, 0};
  while (true) {
    if (should_stop && should_stop()) return std::nullopt;
    const int ready = ::poll(&end, 1, kPollMilliseconds);
    if (ready < 0 && errno != EINTR)
      throw MachineError("SentencePiece: cannot wait for the training (" + system_message(errno) + ")");
    if (ready <= 0) continue;
    const size_t count = read_some(end.fd, buffer.data(), buffer.size(), "SentencePiece's training");
    if (count == 0) return finish(child, std::move(answer), options);
    answer.append(buffer.data(), count);
  }
}

}  // namespace nmt
