#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "data/preparation/stage_times.h"
#include "data/prepared_corpus_format.h"

namespace nmt {

/// One sentence pair on its way to the file.
struct PreparedPair {
  std::span<const int32_t> source, target;  ///< pieces, without <s> and </s>
  std::string_view source_text, target_text;
  int32_t corpus = 0;
};

/// Writes what PreparedCorpus reads, pair by pair, in constant memory: the columns grow in files of their own beside
/// (PATH.columnN), which finish() joins. Without finish() nothing is left behind.
class PreparedCorpusWriter {
 public:
  explicit PreparedCorpusWriter(std::filesystem::path path);  ///< throws as AtomicFile
  ~PreparedCorpusWriter();
  PreparedCorpusWriter(const PreparedCorpusWriter&) = delete;
  void add(const PreparedPair& pair);  ///< throws MachineError (disk full)
  /// The last call; returns the file's SHA-256, whose making is counted in `times`. Throws MachineError.
  std::string finish(StageTimes* times = nullptr);
  int64_t size() const { return static_cast<int64_t>(header_.pairs); }
  int64_t source_tokens() const;  ///< pieces so far
  int64_t target_tokens() const;

 private:
  class ColumnFile;
  std::filesystem::path path_;
  prepared_corpus_format::Header header_;
  std::array<std::unique_ptr<ColumnFile>, prepared_corpus_format::kColumns> columns_;
};

}  // namespace nmt
