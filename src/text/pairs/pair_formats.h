#pragma once

#include <memory>

#include "text/pairs/pair_reader.h"

namespace nmt {

/// The reader of the form that a file has: told by its name, else by what it begins with, which is read ahead, so that
/// a pipe is told as a file is. Throws Error, which names the option: no such file, a folder, packed with a program
/// other than gzip and zstd, UTF-16.
std::unique_ptr<PairReader> open_corpus_file(const CorpusFile& file);

}  // namespace nmt
