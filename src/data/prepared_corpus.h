#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "text/codec/source_markers.h"

namespace nmt {

/// One split of the prepared data ({train,valid,test}.bin), mapped from disk: costs no memory of its own. Thread-safe.
/// The file's layout stands in prepared_corpus.cpp.
class PreparedCorpus {
 public:
  /// Throws Error for a missing, foreign, truncated or older file; every offset is checked.
  explicit PreparedCorpus(const std::filesystem::path& path, SourceForm source_form = {});

  /// Reads the whole file once: it must have this SHA-256, and its ids must be below the sizes of the vocabularies.
  /// Throws Error.
  void verify(const std::string& sha256, int64_t source_vocabulary, int64_t target_vocabulary) const;

  int64_t size() const;
  const SourceForm& source_form() const { return source_form_; }  ///< how batches have a source's pieces
  std::span<const int32_t> source(int64_t pair) const;            ///< pieces, without <s> and </s>
  std::span<const int32_t> target(int64_t pair) const;
  std::string_view source_text(int64_t pair) const;  ///< as it was encoded
  std::string_view target_text(int64_t pair) const;  ///< validation and test: the reference as it stands in the file
  int32_t corpus(int64_t pair) const;                ///< which of the configured corpora it came from

 private:
  /// What a column of ids takes of the file.
  struct IdColumn {
    size_t begin = 0, end = 0;  ///< in bytes
  };

  std::filesystem::path path_;
  MappedFile file_;
  int64_t size_ = 0;
  SourceForm source_form_;
  // Columns of the mapping, set by the constructor.
  const uint64_t* source_ends_ = nullptr;
  const uint64_t* target_ends_ = nullptr;
  const uint64_t* source_text_ends_ = nullptr;
  const uint64_t* target_text_ends_ = nullptr;
  const int32_t* source_ids_ = nullptr;
  const int32_t* target_ids_ = nullptr;
  const char* source_bytes_ = nullptr;
  const char* target_bytes_ = nullptr;
  const int32_t* corpora_ = nullptr;
  IdColumn source_column_, target_column_;
};

}  // namespace nmt
