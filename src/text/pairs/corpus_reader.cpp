#include "text/pairs/corpus_reader.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/files/zip_directory.h"
#include "base/process/log.h"
#include "text/pairs/moses_zip.h"
#include "text/pairs/pair_formats.h"

namespace nmt {
namespace {

bool has_pieces(const std::string& text) { return text.find("\u2581") != std::string::npos; }

bool are_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code none;
  return one == other || std::filesystem::equivalent(one, other, none);
}

[[noreturn]] void refuse_beside_another(const std::string& option, const std::filesystem::path& path,
                                        const std::string& other_option) {
  throw Error(option + " " + path.string() + ": holds both sides; name it in " + other_option + ", too");
}

constexpr size_t kNamedLines = 10;

/// What is wrong in the first of these lines, and where the others are.
std::string bad_lines_text(const std::vector<BadLine>& named, int64_t count) {
  std::string text = named.front().what();
  if (count == 1) return text;
  text += fmt::format("; {} more such {}: ", with_commas(count - 1), count == 2 ? "line" : "lines");
  for (size_t i = 1; i < named.size(); ++i) text += (i > 1 ? ", " : "") + named[i].place();
  return text + (count > std::ssize(named) ? ", ..." : "");
}

}  // namespace

CorpusReader::CorpusReader(CorpusFiles files, const ReadingOptions& reading)
    : files_(std::move(files)), policy_(reading.bad_lines) {
  auto& [source, target, source_option, target_option] = files_;
  same_file_ = !target.empty() && are_same_file(source, target);
  if ((same_file_ || target.empty()) && is_zip_archive(source)) {
    open_zip_archive(reading);
    return;
  }
  source_ = open_corpus_file({.path = source, .option = source_option, .reading = reading, .is_alone = target.empty()});
  if (target.empty()) return;
  if (same_file_ && source_->holds_both_sides()) return;
  if (same_file_ && !std::filesystem::is_regular_file(source))
    throw Error(
        fmt::format("{} {}: a pipe of one side; the other needs one of its own", target_option, target.string()));
  target_ = open_corpus_file({.path = target, .option = target_option, .reading = reading, .side = TextSide::kTarget});
  if (source_->holds_both_sides() == target_->holds_both_sides()) return;
  if (source_->holds_both_sides()) refuse_beside_another(source_option, source, target_option);
  refuse_beside_another(target_option, target, source_option);
}

void CorpusReader::open_zip_archive(const ReadingOptions& reading) {
  CorpusFile source{.path = files_.source, .option = files_.source_option, .reading = reading};
  CorpusFile target{.path = files_.source,
                    .option = files_.target.empty() ? files_.source_option : files_.target_option,
                    .reading = reading,
                    .side = TextSide::kTarget};
  source_ = open_zipped_side(source);
  target_ = open_zipped_side(target);
  same_file_ = false;
  files_ = {source.path, target.path, source.option, target.option};
}

bool CorpusReader::next(TextPair& pair) {
  Found found = next_found(pair);
  for (; found == Found::kBadLine; found = next_found(pair)) {
    ++left_out_;
    if (policy_ == BadLinePolicy::kStop) throw_bad_lines();
  }
  if (found == Found::kPair) {
    ++count_;
    if (has_pieces(pair.source) || has_pieces(pair.target)) ++pairs_of_pieces_;
    return true;
  }
  if (count_ == 0 && bad_lines_ > 0) throw_bad_lines();
  if (count_ == 0)
    throw Error(files_.source_option + " " + files_.source.string() + ": has no sentence; check the file");
  return false;
}

/// Two files that hold both sides, two pipes say, have to have the same pairs.
CorpusReader::Found CorpusReader::next_of_two(TextPair& pair) {
  const bool both_sides = source_->holds_both_sides();
  TextPair copy;
  const Found source = next_line(*source_, pair), target = next_line(*target_, both_sides ? copy : pair);
  if ((source == Found::kEnd) != (target == Found::kEnd)) throw_unequal(target == Found::kEnd);
  if (source == Found::kBadLine || target == Found::kBadLine) return Found::kBadLine;
  if (both_sides && source == Found::kPair && (copy.source != pair.source || copy.target != pair.target))
    throw Error(fmt::format("{} {}: holds both sides, but its pair {} is not that of {}; name one file on both sides",
                            files_.target_option, files_.target.string(), count_ + 1, files_.source.string()));
  return source;
}

CorpusReader::Found CorpusReader::next_line(PairReader& reader, TextPair& pair) {
  try {
    return reader.next(pair) ? Found::kPair : Found::kEnd;
  } catch (const BadLine& bad) {
    ++bad_lines_;
    if (named_.size() < kNamedLines) named_.push_back(bad);
    return Found::kBadLine;
  }
}

/// How many more there are.
int64_t CorpusReader::count_rest(PairReader& reader) {
  int64_t count = 0;
  for (TextPair pair; next_line(reader, pair) != Found::kEnd;) ++count;
  return count;
}

void CorpusReader::throw_bad_lines() {
  try {
    for (TextPair pair; next_found(pair) != Found::kEnd;) continue;
  } catch (const Error&) {  // what else is wrong is said when these lines are right
  }
  const bool may_skip =
      bad_lines_ > 1 && policy_ == BadLinePolicy::kStop && files_.source_option.starts_with("data.train");
  throw Error(bad_lines_text(named_, bad_lines_) + (may_skip ? "; data.bad_lines: skip leaves such lines out" : ""));
}

void CorpusReader::throw_unequal(bool source_has_one) {
  const int64_t read = count_ + left_out_;
  const int64_t sources = read + (source_has_one ? 1 : 0) + count_rest(*source_);
  const int64_t targets = read + (source_has_one ? 0 : 1) + count_rest(*target_);
  throw Error(fmt::format("{} {}: {} sentences, {} has {}; align the files", files_.target_option,
                          files_.target.string(), targets, files_.source.string(), sources));
}

int64_t CorpusReader::repaired_lines() const {
  return source_->repaired_lines() + (target_ ? target_->repaired_lines() : 0);
}

std::string CorpusReader::description() const {
  return source_->description() + (target_ ? ", " + target_->description() : "");
}

std::vector<ReaderNote> CorpusReader::notes() const {
  auto notes = source_->notes();
  if (target_)
    for (auto& note : target_->notes()) notes.push_back(std::move(note));
  if (same_file_ && target_) {
    const auto& [source, target, source_option, target_option] = files_;
    notes.push_back(
        {.text = fmt::format("{}{} {}: the same file on both sides", source_option,
                             source_option == target_option ? "" : " and " + target_option, source.string()),
         .is_warning = true});
  }
  if (left_out_ > 0)
    notes.push_back({.text = fmt::format("{} {} left out (data.bad_lines: skip): {}", with_commas(left_out_),
                                         left_out_ == 1 ? "pair is" : "pairs are", bad_lines_text(named_, bad_lines_)),
                     .is_warning = true});
  if (pairs_of_pieces_ > count_ / 2)
    notes.push_back(
        {.text = fmt::format("{} pairs are cut into pieces already (\u2581 begins a word); give raw text, or "
                             "join them: nmt-prepro --decode",
                             with_commas(pairs_of_pieces_)),
         .is_warning = true});
  return notes;
}

}  // namespace nmt
