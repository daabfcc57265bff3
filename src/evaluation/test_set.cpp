#include "evaluation/test_set.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/unicode.h"
#include "config/text_sets.h"
#include "text/corpus/text_reader.h"

namespace nmt {
namespace {

std::vector<std::string> read_sentences(const std::filesystem::path& path) {
  // To look at a pipe is to read it: what comes out of a program is plain text.
  const bool is_pipe = std::filesystem::is_fifo(path);
  TextReader reader(path, is_pipe ? TextFormat::kPlain : detect_format(path));
  std::vector<std::string> sentences;
  while (const auto sentence = reader.next()) {
    if (const auto invalid = find_invalid_utf8(*sentence)) {
      throw Error(fmt::format("{}:{}: byte {} of the sentence is not UTF-8; convert the file (iconv -t UTF-8)",
                              path.string(), reader.line_number(), *invalid + 1));
    }
    sentences.emplace_back(*sentence);
  }
  if (sentences.empty()) throw Error(fmt::format("{}: has no sentence; check the file", path.string()));
  return sentences;
}

}  // namespace

TestSet read_test_set(const std::filesystem::path& source, const std::vector<std::filesystem::path>& references) {
  if (references.empty()) throw Error(fmt::format("{}: has no reference; give one", source.string()));
  TestSet test_set{
      .source_file = source, .reference_files = references, .sources = read_sentences(source), .references = {}};
  for (const auto& path : references) {
    test_set.references.push_back(read_sentences(path));
    const size_t expected = test_set.sources.size(), found = test_set.references.back().size();
    if (found != expected) {
      throw Error(fmt::format("{}: {} sentences, {} has {}; sentence i must be the translation of sentence i",
                              path.string(), found, source.string(), expected));
    }
  }
  return test_set;
}

std::vector<TestSet> configured_test_sets(const DataConfig& data, TestSplit split, const std::string& config_file) {
  const bool test = split == TestSplit::kTest;
  std::vector<TestSet> sets;
  for (const auto& set : test ? test_sets(data) : validation_sets(data)) {
    sets.push_back(read_test_set(set.text.source, {set.text.target}));
    sets.back().name = set.text.name;
  }
  if (sets.empty())
    throw Error(fmt::format("{}: {} are not set; set them or give --source and --reference", config_file,
                            test ? "data.test1 and data.test2" : "data.eval1 and data.eval2"));
  if (sets.size() == 1) sets.front().name.clear();
  return sets;
}

}  // namespace nmt
