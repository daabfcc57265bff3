#include "text/pairs/corpus_reader.h"

#include <utility>

#include "base/error.h"
#include "text/pairs/pair_formats.h"

namespace nmt {

CorpusReader::CorpusReader(CorpusFiles files, Utf8Policy policy)
    : files_(std::move(files)), reader_(make_pair_reader(files_, policy)) {}

bool CorpusReader::next(TextPair& pair) {
  if (reader_->next(pair)) {
    ++count_;
    return true;
  }
  if (count_ == 0)
    throw Error(files_.source_option + " " + files_.source.string() + ": has no sentence; check the file");
  return false;
}

}  // namespace nmt
