#include "text/pairs/corpus_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/process/progress.h"
#include "text/pairs/pair_formats.h"

namespace nmt {
namespace {

bool has_pieces(const std::string& text) { return text.find("\u2581") != std::string::npos; }

}  // namespace

CorpusReader::CorpusReader(CorpusFiles files, Utf8Policy policy)
    : files_(std::move(files)), reader_(make_pair_reader(files_, policy)) {}

bool CorpusReader::next(TextPair& pair) {
  if (reader_->next(pair)) {
    ++count_;
    if (has_pieces(pair.source) || has_pieces(pair.target)) ++pairs_of_pieces_;
    return true;
  }
  if (count_ == 0)
    throw Error(files_.source_option + " " + files_.source.string() + ": has no sentence; check the file");
  return false;
}

std::vector<ReaderNote> CorpusReader::notes() const {
  auto notes = reader_->notes();
  if (pairs_of_pieces_ > count_ / 2)
    notes.push_back(
        {.text = fmt::format("{} pairs are cut into pieces already (\u2581 begins a word); give raw text, or "
                             "join them: nmt-prepro --decode",
                             with_commas(pairs_of_pieces_)),
         .is_warning = true});
  return notes;
}

}  // namespace nmt
