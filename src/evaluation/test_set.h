#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process/log.h"
#include "config/config.h"
#include "scoring/corpus/corpus_score.h"
#include "text/pairs/pair_reader.h"

namespace nmt {

/// Sentences to translate and what they are compared with, as they stand in their files.
struct TestSet {
  std::string name = {};  ///< of a list of sets; empty: the only one
  std::filesystem::path source_file = {};
  std::vector<std::filesystem::path> reference_files = {};
  std::vector<std::string> sources = {};
  scoring::References references = {};  ///< [file][sentence]
  std::string target_language = {};     ///< decoding.target_language of the set; empty: as the models say
  int64_t left_out = 0;                 ///< pairs of the files that are not in it, see chosen_pairs()
};

/// Reads files of every form that nmt-prepro reads, as it does, pipes among them; tells the log what was left out.
/// further_references: beside files.target, sentence by sentence. Throws Error as CorpusReader, and where numbers of
/// sentences differ.
TestSet read_test_set(const CorpusFiles& files, const std::vector<std::filesystem::path>& further_references,
                      const ReadingOptions& reading, Logger& log);

/// Each set as it is ("plain", "NAME.plain") and as people type it: "upper", "title", "typos", "no_end_mark" and
/// "joined" (two sentences each; an odd last one stays alone), all sentences changed as training.augment_* change
/// pairs. References are changed with their sources, but for typos. A function of the sets alone.
std::vector<TestSet> robustness_sets(const std::vector<TestSet>& test_sets);

/// Which of the configured sets are evaluated.
enum class TestSplit { kTest, kValid };

/// The sets of data.test (or test1 and test2), or of data.eval (or eval1 and eval2); one alone has no name. Throws
/// Error where they are not set (named by the configuration's file) and as read_test_set().
std::vector<TestSet> configured_test_sets(const DataConfig& data, TestSplit split, const std::string& config_file,
                                          Logger& log);

}  // namespace nmt
