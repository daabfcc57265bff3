#include "evaluation/test_set.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/config.h"
#include "text/pairs/corpus_reader.h"
#include "text/pairs/pair_formats.h"
#include "text/pairs/pair_reader.h"

namespace nmt {
namespace {

void tell(Logger& log, const std::vector<ReaderNote>& notes) {
  for (const auto& [text, is_warning] : notes)
    if (is_warning) log.warn("{}", text);
}

/// A further reference of the sources that were read already.
std::vector<std::string> read_reference(const CorpusFile& file, const TestSet& test_set, Logger& log) {
  const auto reader = open_corpus_file(file);
  std::vector<std::string> sentences;
  for (TextPair pair; reader->next(pair);) {
    if (reader->holds_both_sides() && sentences.size() < test_set.sources.size() &&
        pair.source != test_set.sources[sentences.size()])
      throw Error(fmt::format("{} {}: holds both sides, but its source {} is not that of {}", file.option,
                              file.path.string(), sentences.size() + 1, test_set.source_file.string()));
    sentences.push_back(std::move(pair.target));
  }
  tell(log, reader->notes());
  return sentences;
}

}  // namespace

TestSet read_test_set(const CorpusFiles& files, const std::vector<std::filesystem::path>& further_references,
                      const ReadingOptions& reading, Logger& log) {
  TestSet test_set{.source_file = files.source, .reference_files = {files.target}};
  CorpusReader reader(files, reading);
  test_set.references.emplace_back();
  for (TextPair pair; reader.next(pair);) {
    test_set.sources.push_back(std::move(pair.source));
    test_set.references.front().push_back(std::move(pair.target));
  }
  tell(log, reader.notes());
  for (const auto& path : further_references) {
    const CorpusFile file{.path = path, .option = files.target_option, .reading = reading, .side = TextSide::kTarget};
    test_set.reference_files.push_back(path);
    test_set.references.push_back(read_reference(file, test_set, log));
    const size_t expected = test_set.sources.size(), found = test_set.references.back().size();
    if (found != expected) {
      throw Error(fmt::format("{} {}: {} sentences, {} has {}; align the files", file.option, path.string(), found,
                              files.source.string(), expected));
    }
  }
  return test_set;
}

std::vector<TestSet> configured_test_sets(const DataConfig& data, TestSplit split, const std::string& config_file,
                                          Logger& log) {
  const bool test = split == TestSplit::kTest;
  std::vector<TestSet> sets;
  for (const auto& set : test ? test_sets(data) : validation_sets(data)) {
    sets.push_back(read_test_set({set.text.source, set.text.target, set.source_option, set.target_option}, {},
                                 reading_options(data), log));
    sets.back().name = set.text.name;
  }
  if (sets.empty())
    throw Error(fmt::format("{}: {} are not set; set them or give --source and --reference", config_file,
                            test ? "data.test1 and data.test2" : "data.eval1 and data.eval2"));
  if (sets.size() == 1) sets.front().name.clear();
  return sets;
}

}  // namespace nmt
