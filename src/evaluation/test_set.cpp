#include "evaluation/test_set.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "config/config.h"
#include "config/languages.h"
#include "text/augmentation.h"
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

namespace {

/// Every line with the changes; where they join, every second line goes to the one before it.
std::vector<std::string> changed_lines(const std::vector<std::string>& lines, const TextChanges& changes) {
  std::vector<std::string> result;
  for (size_t i = 0; i < lines.size(); i += changes.joined ? 2 : 1) {
    CounterRandom random({i});
    const std::string next = changes.joined && i + 1 < lines.size() ? lines[i + 1] : "";
    result.push_back(changed_text(lines[i], next, changes));
    if (changes.typos) result.back() = with_typos(result.back(), random);
  }
  return result;
}

}  // namespace

std::vector<TestSet> robustness_sets(const std::vector<TestSet>& test_sets) {
  const std::pair<const char*, TextChanges> kinds[] = {{"plain", {}},
                                                       {"upper", {.upper = true}},
                                                       {"title", {.title = true}},
                                                       {"typos", {.typos = true}},
                                                       {"no_end_mark", {.no_end_mark = true}},
                                                       {"joined", {.joined = true}}};
  std::vector<TestSet> sets;
  for (const auto& test_set : test_sets)
    for (auto [name, changes] : kinds) {
      auto& set = sets.emplace_back(test_set);
      set.name = test_set.name.empty() ? name : fmt::format("{}.{}", test_set.name, name);
      set.sources = changed_lines(test_set.sources, changes);
      changes.typos = false;
      for (auto& reference : set.references) reference = changed_lines(reference, changes);
    }
  return sets;
}

std::vector<TestSet> configured_test_sets(const DataConfig& data, TestSplit split, const std::string& config_file,
                                          Logger& log) {
  const bool test = split == TestSplit::kTest;
  std::vector<TestSet> sets;
  for (const auto& set : test ? test_sets(data) : validation_sets(data)) {
    const DataConfig own = of_set(data, set.text);
    sets.push_back(read_test_set({set.text.source, set.text.target, set.source_option, set.target_option}, {},
                                 reading_options(own), log));
    sets.back().name = set.text.name;
    if (data.tags == LanguageTags::kTarget) sets.back().target_language = own.target_language;
  }
  if (sets.empty())
    throw Error(fmt::format("{}: {} are not set; set them or give --source and --reference", config_file,
                            test ? "data.test1 and data.test2" : "data.eval1 and data.eval2"));
  if (sets.size() == 1) sets.front().name.clear();
  return sets;
}

}  // namespace nmt
