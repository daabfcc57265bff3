#pragma once

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "data/preparation/preprocess.h"
#include "support.h"

namespace nmt::test {

/// A small German-English world: 300 training pairs, validation and test sets, and a configuration for them.
class PrepareFixture : public testing::Test {
 protected:
  PrepareFixture() {
    write("train.de", lines("de", 0, 300));
    write("train.en", lines("en", 0, 300));
    write("valid.de", lines("de", 300, 320));
    write("valid.en", lines("en", 300, 320));
    write("test.de", lines("de", 320, 350));
    write("test.en", lines("en", 320, 350));
    config_.data.dir = (folder_ / "out" / "prepared").string();
    config_.data.train1 = {path("train.de")};
    config_.data.train2 = {path("train.en")};
    config_.data.eval1 = path("valid.de");
    config_.data.eval2 = path("valid.en");
    config_.data.test1 = path("test.de");
    config_.data.test2 = path("test.en");
    config_.data.vocab_size = 150;
    config_.data.character_coverage = 1;
    config_.run.threads = 2;
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  /// Line i says the number i in words of its language, and more.
  static std::string line(const std::string& language, int i) {
    static const std::map<std::string, std::vector<std::string>> kDigits = {
        {"de", {"null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"}},
        {"en", {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}}};
    std::string text = language == "de" ? "Die Zahl" : "The number";
    for (const char digit : std::to_string(i)) text += " " + kDigits.at(language)[static_cast<size_t>(digit - '0')];
    return text + ".";
  }
  static std::string lines(const std::string& language, int begin, int end) {
    std::string text;
    for (int i = begin; i < end; ++i) text += line(language, i) + "\n";
    return text;
  }

  PreprocessResult prepare(PreprocessOptions options = {}) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(log_);
    Logger logger("test", sink);
    logger.set_pattern("%v");
    return prepare_data(config_, options, logger);
  }
  PreprocessResult overwrite() { return prepare({.overwrite = Overwrite::kReplace}); }

  /// Every file below data.dir and beside it, with its content.
  std::map<std::string, std::string> output() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
      if (entry.is_regular_file()) {
        files[entry.path().lexically_relative(folder_ / "out").string()] = read_file(entry.path());
      }
    }
    return files;
  }

  TemporaryDirectory folder_;
  Config config_;
  std::ostringstream log_;
};

}  // namespace nmt::test
