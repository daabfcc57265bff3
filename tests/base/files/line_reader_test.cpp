#include "base/files/line_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/random.h"
#include "support.h"

namespace nmt::line_reader_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

// A frame that readers leave out (RFC 8878), as pzstd writes one before each of its frames.
const std::string kSkippable = {"\x50\x2A\x4D\x18\x04\0\0\0abcd", 12};

std::vector<std::string> lines_of(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.next()) {
    lines.emplace_back(*line);
    EXPECT_EQ(reader.line_number(), static_cast<int64_t>(lines.size()));
  }
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.line_number(), static_cast<int64_t>(lines.size()));
  return lines;
}

std::vector<std::string> lines_of_file(const std::filesystem::path& path) {
  LineReader reader(path);
  EXPECT_EQ(reader.line_number(), 0);
  EXPECT_EQ(reader.path(), path);
  return lines_of(reader);
}

/// Standard input is what `bytes` says, sent in `pieces`, while the object lives.
class StandardInput {
 public:
  explicit StandardInput(std::vector<std::string> pieces) : saved_(dup(STDIN_FILENO)) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    sender_ = std::thread([end = ends[1], pieces = std::move(pieces)] {
      for (const auto& piece : pieces) {
        for (size_t sent = 0; sent < piece.size();) {
          const ssize_t count = write(end, piece.data() + sent, piece.size() - sent);
          if (count <= 0) break;
          sent += count;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      close(end);
    });
  }
  ~StandardInput() {
    sender_.join();
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }

 private:
  int saved_;
  std::thread sender_;
};

struct Case {
  std::string name, bytes;
  std::vector<std::string> lines;
};

std::vector<Case> cases() {
  const std::string longest(5 << 20, 'x');
  return {{"nothing", "", {}},
          {"an empty line", "\n", {""}},
          {"two empty lines", "\n\n", {"", ""}},
          {"no newline at the end", "a", {"a"}},
          {"a newline at the end", "a\nb\n", {"a", "b"}},
          {"no newline after the second", "a\nb", {"a", "b"}},
          {"carriage returns stay", "a\r\nb\rc\r\n", {"a\r", "b\rc\r"}},
          {"any bytes", std::string("\0a\0\n\xFF\xFE\n", 7), {std::string("\0a\0", 3), "\xFF\xFE"}},
          {"only other line ends", "a\vb\fc\u2028d\u0085e\n", {"a\vb\fc\u2028d\u0085e"}},
          {"half of gzip's magic", "\x1f", {"\x1f"}},
          {"gzip's first byte and another", "\x1f\n\x8b\n", {"\x1f", "\x8b"}},
          {"the beginning of a zip archive's magic", "PK", {"PK"}},
          {"what begins like bzip2's magic", "BZh is a name\n", {"BZh is a name"}},
          {"a line of megabytes", "a\n" + longest + "\nb", {"a", longest, "b"}},
          {"megabytes without a newline", longest, {longest}}};
}

TEST(LineReader, ReadsPlainFiles) {
  const TemporaryDirectory folder;
  for (const auto& test : cases()) {
    write_file_atomically(folder / "file", test.bytes);
    EXPECT_TRUE(lines_of_file(folder / "file") == test.lines) << test.name;
  }
}

TEST(LineReader, ReadsGzipFilesWhateverTheirName) {
  const TemporaryDirectory folder;
  for (const auto& test : cases()) {
    write_file_atomically(folder / "file.txt", gzip(test.bytes));
    EXPECT_TRUE(lines_of_file(folder / "file.txt") == test.lines) << test.name;
  }
}

TEST(LineReader, ReadsGzipFilesOfSeveralMembers) {
  const TemporaryDirectory folder;
  for (const auto& test : cases()) {
    const size_t half = test.bytes.size() / 2;
    const auto packed = gzip(test.bytes.substr(0, half)) + gzip("") + gzip(test.bytes.substr(half));
    write_file_atomically(folder / "file.gz", packed);
    EXPECT_TRUE(lines_of_file(folder / "file.gz") == test.lines) << test.name;
  }
}

TEST(LineReader, ReadsZstdFilesOfSeveralFramesWhateverTheirName) {
  const TemporaryDirectory folder;
  for (const auto& test : cases()) {
    const size_t half = test.bytes.size() / 2;
    write_file_atomically(folder / "file.txt", zstd(test.bytes));
    EXPECT_TRUE(lines_of_file(folder / "file.txt") == test.lines) << test.name;
    const auto parts = kSkippable + zstd(test.bytes.substr(0, half)) + zstd("") + zstd(test.bytes.substr(half));
    write_file_atomically(folder / "file.zst", parts + kSkippable);
    EXPECT_TRUE(lines_of_file(folder / "file.zst") == test.lines) << test.name;
  }
}

TEST(LineReader, ReportsAZstdFileCutAnywhere) {
  const TemporaryDirectory folder;
  const std::string packed = zstd("one\ntwo\nthree\n");
  for (size_t size = 4; size < packed.size(); ++size) {
    write_file_atomically(folder / "cut.zst", packed.substr(0, size));
    const auto message = message_of<Error>([&] { lines_of_file(folder / "cut.zst"); });
    EXPECT_TRUE(message.starts_with((folder / "cut.zst").string() + ": damaged zstd after line ")) << message;
    EXPECT_TRUE(message.ends_with(" (it ends too early); get the file anew")) << message;
  }
  write_file_atomically(folder / "behind.zst", packed + "text");
  EXPECT_EQ(
      message_of<Error>([&] { lines_of_file(folder / "behind.zst"); }),
      (folder / "behind.zst").string() + ": damaged zstd after line 3 (Unknown frame descriptor); get the file anew");
}

TEST(LineReader, RefusesALargeWindowOfZstd) {
  const TemporaryDirectory folder;
  const auto frame = [](int exponent) {  // one raw block; its header says 2^(10 + exponent) bytes of window
    return "\x28\xB5\x2F\xFD" + std::string(1, '\0') + static_cast<char>(exponent << 3) + std::string("\x11\0\0a\n", 5);
  };
  write_file_atomically(folder / "x", frame(17));
  EXPECT_EQ(lines_of_file(folder / "x"), std::vector<std::string>{"a"});
  write_file_atomically(folder / "x", frame(18));
  EXPECT_EQ(message_of<Error>([&] { lines_of_file(folder / "x"); }),
            (folder / "x").string() + ": zstd's window is larger than 128 MiB; unpack it first (zstd -d --long=31)");
}

TEST(LineReader, RefusesWhatIsNoTextUnlessItIsAskedFor) {
  const TemporaryDirectory folder;
  const auto file = folder / "file";
  for (const auto& [bytes, what] : std::map<std::string, std::string>{{"\xFD"
                                                                       "7zXZ",
                                                                       "packed with xz"},
                                                                      {"BZh91AY&SY", "packed with bzip2"},
                                                                      {"PK\x03\x04...\n", "a zip archive"},
                                                                      {"\xFF\xFEH", "UTF-16"},
                                                                      {"\xFE\xFF\n", "UTF-16"}}) {
    write_file_atomically(file, bytes);
    EXPECT_THAT(message_of<Error>([&] { LineReader(file).next(); }),
                testing::StartsWith(file.string() + ": is " + what + "; "));
    EXPECT_TRUE(LineReader(file, {}, ForeignBytes::kRead).next());
    const StandardInput input({bytes});
    EXPECT_THAT(message_of<Error>([] { LineReader("-").next(); }), testing::StartsWith("standard input: is " + what));
  }
}

TEST(LineReader, ReadsStandardInput) {
  for (const auto& test : cases()) {
    for (const auto& bytes : {test.bytes, gzip(test.bytes), zstd(test.bytes)}) {
      const StandardInput input({bytes.substr(0, 1), bytes.substr(bytes.empty() ? 0 : 1)});
      EXPECT_TRUE(lines_of_file("-") == test.lines) << test.name;
    }
  }
}

TEST(LineReader, LeavesStandardInputOpen) {
  const StandardInput input({"a\n"});
  EXPECT_EQ(lines_of_file("-"), std::vector<std::string>{"a"});
  EXPECT_GE(fcntl(STDIN_FILENO, F_GETFD), 0);
}

TEST(LineReader, HandsALineOutBeforeMoreIsSent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  for (const std::string line : {"", "a", "bc"}) {
    ASSERT_EQ(write(ends[1], (line + "\n").data(), line.size() + 1), static_cast<ssize_t>(line.size() + 1));
    EXPECT_EQ(reader.next(), line);
  }
  close(ends[1]);
  EXPECT_EQ(reader.next(), std::nullopt);
  close(ends[0]);
}

TEST(LineReader, SplitsAtNewlinesWhereverTheBufferEnds) {
  const TemporaryDirectory folder;
  CounterRandom random({1});
  std::vector<std::string> lines;
  std::string bytes;
  while (bytes.size() < (4u << 20)) {
    lines.emplace_back(random.below(10) ? random.below(100) : random.below(400000), '\0');
    for (char& c : lines.back()) c = static_cast<char>('a' + random.next() % 26);
    bytes += lines.back() + "\n";
  }
  write_file_atomically(folder / "plain", bytes);
  write_file_atomically(folder / "gzip", gzip(bytes));
  write_file_atomically(folder / "zstd", zstd(bytes));
  EXPECT_TRUE(lines_of_file(folder / "plain") == lines);
  EXPECT_TRUE(lines_of_file(folder / "gzip") == lines);
  EXPECT_TRUE(lines_of_file(folder / "zstd") == lines);
}

TEST(LineReader, GoesOnWhereItWasAfterAMove) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "file", "a\nb\n");
  LineReader first(folder / "file");
  EXPECT_EQ(first.next(), "a");
  LineReader second(std::move(first));
  EXPECT_EQ(second.next(), "b");
  EXPECT_EQ(second.line_number(), 2);
}

TEST(LineReader, ReportsAGzipFileCutAnywhere) {
  const TemporaryDirectory folder;
  const std::string packed = gzip("one\ntwo\nthree\n");
  for (size_t size = 2; size < packed.size(); ++size) {
    write_file_atomically(folder / "cut.gz", packed.substr(0, size));
    const auto message = message_of<Error>([&] { lines_of_file(folder / "cut.gz"); });
    EXPECT_TRUE(message.starts_with((folder / "cut.gz").string() + ": damaged gzip after line ")) << message;
    EXPECT_TRUE(message.ends_with(" (it ends too early); get the file anew")) << message;
  }
}

TEST(LineReader, SaysAfterWhichLineAGzipFileIsDamaged) {
  const TemporaryDirectory folder;
  const std::string good = gzip("one\ntwo\n");
  std::string bad_sum = gzip("three\nfour");
  bad_sum[bad_sum.size() - 5] ^= 1;
  write_file_atomically(folder / "sum.gz", good + bad_sum);
  LineReader reader(folder / "sum.gz");
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.next(), "three");
  const std::string expected =
      (folder / "sum.gz").string() + ": damaged gzip after line 3 (incorrect data check); get the file anew";
  EXPECT_EQ(message_of<Error>([&] { reader.next(); }), expected);
  EXPECT_EQ(message_of<Error>([&] { reader.next(); }), expected) << "and again";

  write_file_atomically(folder / "behind.gz", good + "text");
  EXPECT_EQ(message_of<Error>([&] { lines_of_file(folder / "behind.gz"); }),
            (folder / "behind.gz").string() +
                ": damaged gzip after line 2 (what follows the packed data is not gzip); get the file anew");
}

TEST(LineReader, AllowsZerosBehindAGzipFile) {
  const TemporaryDirectory folder;
  write_file_atomically(folder / "padded.gz", gzip("one\n") + std::string(1 << 20, '\0'));
  EXPECT_EQ(lines_of_file(folder / "padded.gz"), std::vector<std::string>{"one"});
}

TEST(LineReader, SaysWhetherAPipeHoldsALine) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  const auto write = [&](std::string_view text) {
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), ssize_t(text.size()));
  };
  EXPECT_FALSE(reader.ready(0));
  write("one\ntwo\nthr");
  EXPECT_TRUE(reader.ready(0));
  EXPECT_EQ(reader.next(), "one");
  EXPECT_TRUE(reader.ready(0));
  EXPECT_EQ(reader.next(), "two");
  EXPECT_FALSE(reader.ready(1)) << "half a line";
  write("ee");
  EXPECT_FALSE(reader.ready(1));
  ::close(ends[1]);
  EXPECT_TRUE(reader.ready(0)) << "the end makes it whole";
  EXPECT_EQ(reader.next(), "three");
  EXPECT_TRUE(reader.ready(0));
  EXPECT_EQ(reader.next(), std::nullopt);
  ::close(ends[0]);
}

TEST(LineReader, WaitsForTheWriterOfANamedPipe) {
  const TemporaryDirectory folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  LineReader asked(pipe);
  EXPECT_FALSE(asked.ready(0)) << "nobody writes yet";
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ofstream(pipe) << "one\n";
  });
  EXPECT_EQ(asked.next(), "one") << "not the end, though nobody wrote yet";
  EXPECT_EQ(asked.next(), std::nullopt);
  writer.join();
}

TEST(LineReader, SaysWhatItCannotOpen) {
  const TemporaryDirectory folder;
  EXPECT_EQ(message_of<Error>([&] { LineReader(folder / "none"); }),
            (folder / "none").string() + ": cannot read (No such file or directory)");
  EXPECT_EQ(message_of<Error>([&] { LineReader{folder.path()}; }),
            folder.path().string() + ": is a folder; name a file");
}

constexpr size_t kMiB = 1 << 20;

TEST(LineReader, RefusesALineThatIsTooLong) {
  const TemporaryDirectory folder;
  for (const std::string end : {"", "\n", "\nlast"}) {
    for (const bool packed : {false, true}) {
      const std::string text = "first\n" + std::string(2 * kMiB + 1, 'x') + end;
      write_file_atomically(folder / "x", packed ? gzip(text) : text);
      LineReader reader(folder / "x", {.bytes = 2 * kMiB});
      EXPECT_EQ(reader.next(), "first");
      EXPECT_EQ(
          message_of<Error>([&] { reader.next(); }),
          (folder / "x").string() + ":2: a line of more than 2 MiB; this is no text, or it has lost its line ends");
    }
  }
  write_file_atomically(folder / "x", std::string(16 * kMiB, 'x'));
  EXPECT_EQ(lines_of_file(folder / "x").front().size(), 16 * kMiB);
  write_file_atomically(folder / "x", std::string(16 * kMiB + 1, 'x'));
  EXPECT_THROW(lines_of_file(folder / "x"), Error) << "unless the caller says otherwise";
}

TEST(LineReader, LeavesOutWhatIsBeyondTheLongestLine) {
  const TemporaryDirectory folder;
  constexpr LongestLine kShort = {.bytes = 300'000, .beyond = LongestLine::Beyond::kLeaveOut};
  for (const size_t length : {299'999u, 300'000u, 300'001u, 524'288u, 1'000'000u}) {
    for (const std::string end : {"", "\n", "\nlast\n", "\n\nlast"}) {
      const std::string text = "first\n" + std::string(length, 'x') + end;
      write_file_atomically(folder / "x", text);
      LineReader reader(folder / "x", kShort);
      EXPECT_EQ(reader.next(), "first");
      EXPECT_FALSE(reader.is_cut());
      EXPECT_TRUE(reader.ready(0));
      const auto line = reader.next();
      ASSERT_TRUE(line);
      EXPECT_EQ(line->size(), std::min<size_t>(length, 300'000));
      EXPECT_EQ(line->find_first_not_of('x'), line->npos);
      EXPECT_EQ(reader.is_cut(), length > 300'000);
      EXPECT_EQ(reader.line_number(), 2);
      EXPECT_EQ(reader.at_unended_line(), end.empty());
      if (end == "\n\nlast") {
        EXPECT_EQ(reader.next(), "");
      }
      if (end.size() > 1) {
        EXPECT_EQ(reader.next(), "last");
        EXPECT_FALSE(reader.is_cut());
      }
      EXPECT_FALSE(reader.next());
    }
  }
}

// The reader keeps what is allowed of a line without an end, such as that of a pipe that never ends a line.
TEST(LineReader, HoldsNoMoreThanTheLongestLine) {
  const TemporaryDirectory folder;
  const auto resident_bytes = [] {
    std::ifstream statm("/proc/self/statm");
    size_t all = 0, resident = 0;
    statm >> all >> resident;
    return resident * static_cast<size_t>(getpagesize());
  };
  const std::string text = std::string(150 * kMiB, 'x') + "\nlast\n";
  for (const auto& packed : {gzip(text), zstd(text)}) {
    ASSERT_LT(packed.size(), 1 * kMiB);
    write_file_atomically(folder / "x", packed);
    const size_t before = resident_bytes();
    LineReader reader(folder / "x", {.bytes = 8 * kMiB, .beyond = LongestLine::Beyond::kLeaveOut});
    EXPECT_EQ(reader.next().value_or("").size(), 8 * kMiB);
    EXPECT_EQ(reader.next(), "last");
    EXPECT_LT(resident_bytes(), before + 64 * kMiB);
  }
}

}  // namespace
}  // namespace nmt::line_reader_test
