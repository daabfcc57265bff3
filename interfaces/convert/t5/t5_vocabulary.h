#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nmt::convert {

/// Rows of T5's table. The row of <unk> is that of the SentencePiece model.
struct T5Specials {
  int64_t pad = 0, start = 0, end = 1;
};

/// The vocabulary of a T5 model as ours: <pad> <unk> <s> </s>, then the rest in T5's order. Ours starts the decoder
/// from <s>, so <s> is the row of T5's start token, its <pad>; our <pad> then has no row.
struct T5Vocabulary {
  std::vector<int64_t> order;  ///< of each of our ids T5's row, -1: none, a vector of zeros that is never put out
  std::string model;           ///< bytes of the SentencePiece model with our ids
};

/// `rows`: of the table, which may have more rows than the SentencePiece model has pieces: <extra_id_99> down to
/// <extra_id_0> and filling. Those, like the special ones, are never cut from a text and never written. Throws Error.
T5Vocabulary read_t5_vocabulary(const std::filesystem::path& path, int64_t rows, const T5Specials& specials);

}  // namespace nmt::convert
