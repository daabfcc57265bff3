#include "translation/line_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "search/scripted_model.h"
#include "support.h"
#include "translation/word_tokenizer.h"

namespace nmt::line_stream_test {
namespace {

using test::Ids;
using test::kEnd;
using testing::HasSubstr;

/// Says each word again with probability 0.75; the rest is doubt.
std::vector<double> echo(const Ids& source, const Ids& prefix) {
  std::vector<double> p(8, 0.25 / 7);
  p[prefix.size() < source.size() ? source[prefix.size()] : kEnd] = 0.75;
  return p;
}

class LineStreamTest : public testing::Test {
 protected:
  /// What is written for a file of that text.
  std::string output_of(const std::string& input, LineStreamOptions options = {}, TranslatorOptions translator = {}) {
    write_file_atomically(folder_ / "input", input);
    LineReader reader(folder_ / "input");
    return run(reader, options, translator);
  }

  std::string run(LineReader& reader, LineStreamOptions options, TranslatorOptions translator_options) {
    const Translator translator(model_, codec_, translator_options);
    std::string output;
    calls_.sinks = {{.options = output_, .write = [&](std::string_view text) {
                       output += text;
                       return true;
                     }}};
    statistics_ = translate_lines(reader, translator, calls_, log_, options);
    return output;
  }

  /// What is written for the scores of the lines of two files.
  std::string scores_of(const std::string& sources, const std::string& targets) {
    write_file_atomically(folder_ / "sources", sources);
    write_file_atomically(folder_ / "targets", targets);
    LineReader source_reader(folder_ / "sources"), target_reader(folder_ / "targets");
    const Translator translator(model_, codec_, {.search = {{.length_penalty = 0}}});
    std::string output;
    calls_.sinks = {{.options = {.columns = {OutputColumn::kScore, OutputColumn::kTranslation}},
                     .write = [&](std::string_view text) {
                       output += text;
                       return true;
                     }}};
    statistics_ = score_lines(source_reader, target_reader, translator, calls_, log_, {.block_lines = 2});
    return output;
  }

  std::string messages() const { return messages_.str(); }

  test::TemporaryDirectory folder_;
  test::ScriptedModel model_{8, echo};
  TextCodec codec_ = test::word_codec({"a", "b", "c", "d"});
  OutputOptions output_;
  LineStreamCalls calls_;
  LineStreamStatistics statistics_;
  std::ostringstream messages_;
  Logger log_{"test", std::make_shared<spdlog::sinks::ostream_sink_st>(messages_)};
};

TEST_F(LineStreamTest, WritesALineForEachLine) {
  EXPECT_EQ(output_of("b c\n\nd\n \na"), "b c\n\nd\n\na\n");
  EXPECT_EQ(statistics_.lines, 5);
  EXPECT_EQ(statistics_.empty, 2);
  EXPECT_EQ(statistics_.source_tokens, 4);
  EXPECT_EQ(statistics_.target_tokens, 7);
  EXPECT_EQ(statistics_.cut, 0);
  EXPECT_FALSE(statistics_.stopped);
  EXPECT_EQ(messages(), "");
}

TEST_F(LineStreamTest, NothingGivesNothing) {
  EXPECT_EQ(output_of(""), "");
  EXPECT_EQ(output_of("\n"), "\n");
}

TEST_F(LineStreamTest, OutputDoesNotDependOnTheBlocks) {
  std::string input;
  for (int i = 0; i < 100; ++i) input += std::string(i % 7, ' ') + (i % 3 ? "a b" : "d c a b") + "\n";
  const std::string expected = output_of(input);
  EXPECT_EQ(output_of(input, {.block_lines = 1}), expected);
  EXPECT_EQ(output_of(input, {.block_lines = 7}), expected);
  EXPECT_EQ(output_of(input, {.block_bytes = 30}), expected);
  EXPECT_EQ(statistics_.lines, 100);
}

TEST_F(LineStreamTest, ContinuesBehindTheLinesThatAreDone) {
  output_.columns = {OutputColumn::kLine, OutputColumn::kTranslation};
  const std::string input = "a b\nb c\nc d\n\nd \xff a\n";
  TranslatorOptions samples;
  samples.search.sampling = true;
  samples.search.beam_size = 1;
  const auto whole = output_of(input, {}, samples);
  const auto behind = [&](int64_t lines) {
    size_t begin = 0;
    for (int64_t i = 0; i < lines; ++i) begin = whole.find('\n', begin) + 1;
    return whole.substr(begin);
  };
  for (const int64_t done : {1, 3, 5}) {
    EXPECT_EQ(output_of(input, {.done_lines = done, .block_lines = 2}, samples), behind(done));
    EXPECT_EQ(statistics_.lines, 5 - done);
  }
  EXPECT_THAT(messages(), HasSubstr("input:5: byte 3 is not UTF-8"));
  output_.columns = {OutputColumn::kTranslation};
  const auto texts = output_of("c d\n\n", {}, samples);
  EXPECT_EQ(output_of("c d\n\n", {.first_line = 2}, samples),
            output_of(input, {.done_lines = 2}, samples).substr(0, texts.size()));
}

TEST_F(LineStreamTest, PartsTogetherAreTheWhole) {
  output_.columns = {OutputColumn::kLine, OutputColumn::kTranslation};
  const std::string input = "a b\nb c\nc d\n\nd \xff a\nc\na\n";
  TranslatorOptions samples;
  samples.search.sampling = true;
  samples.search.beam_size = 1;
  const auto whole = output_of(input, {}, samples);
  for (const int64_t cut : {0, 2, 6, 7}) {
    const auto first = output_of(input, {.most_lines = cut, .block_lines = 4}, samples);
    EXPECT_EQ(first + output_of(input, {.skipped_lines = cut}, samples), whole) << cut;
  }
  EXPECT_EQ(output_of(input, {.skipped_lines = 1, .done_lines = 2, .most_lines = 4}, samples),
            output_of(input, {.skipped_lines = 3, .most_lines = 2}, samples))
      << "a part resumes";
}

TEST_F(LineStreamTest, ALineMayHaveAFormOfItsOwn) {
  write_file_atomically(folder_ / "input", "b c\n\nd\n");
  LineReader reader(folder_ / "input");
  std::string output;
  calls_.sinks = {
      {.options = {},
       .write = [&](std::string_view text) { return output += text, true; },
       .format =
           [](const OutputItem& item) { return std::to_string(item.number) + "=" + item.translation.text + "\n"; }}};
  translate_lines(reader, Translator(model_, codec_, {}), calls_, log_);
  EXPECT_EQ(output, "1=b c\n2=\n3=d\n");
}

TEST_F(LineStreamTest, WarnsOfLinesWithoutATagThatTheModelKnows) {
  const TextCodec tagged = test::word_codec({">>x<<", ">>y<<", "a"});
  const auto said = [&](const std::string& input) {
    write_file_atomically(folder_ / "input", input);
    LineReader reader(folder_ / "input");
    calls_.sinks = {{.options = {}, .write = [](std::string_view) { return true; }}};
    messages_.str("");
    translate_lines(reader, Translator(model_, tagged, {}), calls_, log_);
    return messages();
  };
  EXPECT_EQ(said(">>x<< a\n\n>>y<< a\n"), "");
  EXPECT_THAT(said(">>x<< a\na\n"),
              HasSubstr("input:2: no target language is given (--target-language); it translates into x, "
                        "y"));
  EXPECT_THAT(said(">>z<< a\n"), HasSubstr("input:1: the model does not know the tag >>z<<; it translates into x"));
}

TEST_F(LineStreamTest, DropsCarriageReturns) { EXPECT_EQ(output_of("b\r\n\r\nc\r"), "b\n\nc\n"); }

TEST_F(LineStreamTest, DropsAByteOrderMarkBeforeTheFirstLine) {
  EXPECT_EQ(output_of("\uFEFFb\nc\n"), "b\nc\n");
  const std::string scores = scores_of("a b\n", "a b\n");
  EXPECT_EQ(scores_of("\uFEFFa b\n", "\uFEFFa b\n"), scores);
}

TEST_F(LineStreamTest, RepairsWhatIsNotUtf8AndNamesTheLine) {
  EXPECT_EQ(output_of("b\nc \xff d\na\n"), "b\nc <unk> d\na\n");
  EXPECT_EQ(statistics_.repaired, 1);
  EXPECT_THAT(messages(), HasSubstr((folder_ / "input").string() + ":2: byte 3 is not UTF-8"));
}

TEST_F(LineStreamTest, NamesTheFirstBadLinesAndCountsTheOthers) {
  std::string input;
  for (int i = 0; i < 30; ++i) input += "b \xff\n";
  output_of(input);
  EXPECT_EQ(statistics_.repaired, 30);
  EXPECT_THAT(messages(), HasSubstr("input:10: "));
  EXPECT_THAT(messages(), testing::Not(HasSubstr("input:11: ")));
  EXPECT_THAT(messages(), HasSubstr("further lines"));
}

TEST_F(LineStreamTest, SplitsLongLinesAndNamesThem) {
  EXPECT_EQ(output_of("b\n\na b c d\n", {}, {.max_source_length = 2}), "b\n\na b c d\n");
  EXPECT_EQ(statistics_.split, 1);
  EXPECT_THAT(messages(), HasSubstr("input:3: 4 pieces are too long"));
}

TEST_F(LineStreamTest, CountsWhatWasCut) {
  output_of("a b c d\nb\n", {}, {.search = {{.beam_size = 1, .max_length_ratio = 0, .max_length_offset = 3}}});
  EXPECT_EQ(statistics_.cut, 1);
}

TEST_F(LineStreamTest, WritesWhatIsAskedFor) {
  output_.columns = {OutputColumn::kLine, OutputColumn::kTranslation, OutputColumn::kScore};
  const TranslatorOptions greedy{.search = {{.beam_size = 1, .length_penalty = 0}}};
  EXPECT_EQ(output_of("b\n\n", {.block_lines = 1}, greedy),
            fmt::format("1\tb\t{:.6f}\n2\t\t0.000000\n", 2 * std::log(0.75)));
}

TEST_F(LineStreamTest, WritesToSeveralSinksAndTellsOfEachLine) {
  write_file_atomically(folder_ / "input", "a\nb\nc\n");
  LineReader reader(folder_ / "input");
  std::string texts, numbers, seen;
  calls_.sinks = {{.options = {}, .write = [&](std::string_view text) { return texts += text, true; }},
                  {.options = {.columns = {OutputColumn::kLine}},
                   .write = [&](std::string_view text) { return numbers += text, true; }}};
  calls_.on_line = [&](const OutputItem& item) { seen += fmt::format("{}{}", item.number, item.source); };
  translate_lines(reader, Translator(model_, codec_, {}), calls_, log_, {.block_lines = 2});
  EXPECT_EQ(texts, "a\nb\nc\n");
  EXPECT_EQ(numbers, "1\n2\n3\n");
  EXPECT_EQ(seen, "1a2b3c");
}

TEST_F(LineStreamTest, SplitsSentencesAndKeepsParagraphs) {
  const TextCodec sentences = test::word_codec({"Ja.", "Nein.", "Gut."});
  write_file_atomically(folder_ / "input", "Ja. Nein.  Gut.\n\nGut.\n");
  LineReader reader(folder_ / "input");
  std::string output;
  calls_.sinks = {{.options = {}, .write = [&](std::string_view text) { return output += text, true; }}};
  TranslatorOptions options;
  options.split_sentences = true;
  const auto statistics = translate_lines(reader, Translator(model_, sentences, options), calls_, log_);
  EXPECT_EQ(output, "Ja. Nein. Gut.\n\nGut.\n");
  EXPECT_EQ(statistics.sentences, 4);
  EXPECT_EQ(statistics.split, 0);
  EXPECT_EQ(statistics.lines, 3);
  EXPECT_EQ(messages(), "");
}

TEST_F(LineStreamTest, HeedsPrefixesAndPhrasesOfALineAndOfAll) {
  const auto both = output_of("b\tc\nb\n", {.input = InputFormat::kTsv, .common = {.source = "", .prefix = "d"}});
  EXPECT_THAT(both, testing::MatchesRegex("c.*\nd.*\n")) << "its own prefix comes first";
  EXPECT_THAT(output_of("b\n", {.common = {.source = "", .prefix = "d a"}}), testing::StartsWith("d a"));
  EXPECT_EQ(output_of("b\n", {.common = {.source = "", .must_not = {"b"}}}).find('b'), std::string::npos);
}

TEST_F(LineStreamTest, NamesALineOfAnotherFormat) {
  const auto message = test::message_of<Error>([&] { output_of("a\na\tb\tc\td\te\n", {.input = InputFormat::kTsv}); });
  EXPECT_THAT(message, HasSubstr("input:2: 5 columns"));
}

TEST_F(LineStreamTest, AnswersTheLinesBeforeABadOne) {
  std::string output;
  calls_.sinks = {{.options = {}, .write = [&](std::string_view text) { return output += text, true; }}};
  const Translator translator(model_, codec_, {});
  const auto refusal = [&](const std::string& text, const LineStreamOptions& options) {
    output.clear();
    write_file_atomically(folder_ / "input", text);
    LineReader reader(folder_ / "input");
    return test::message_of<Error>([&] { translate_lines(reader, translator, calls_, log_, options); });
  };
  EXPECT_THAT(refusal("a\nb c\n1\t2\t3\t4\t5\nd\n", {.input = InputFormat::kTsv}), HasSubstr("input:3: 5 columns"));
  EXPECT_EQ(output, "a\nb c\n");
  EXPECT_THAT(refusal("a\n1\t2\t3\t4\t5\n", {.input = InputFormat::kTsv, .block_lines = 1}), HasSubstr("input:2: "));
  EXPECT_EQ(output, "a\n") << "where the line begins a block, too";
  EXPECT_THAT(refusal("{\"source\": \"b\"}\n{bad\n", {.input = InputFormat::kJson}), HasSubstr("input:2: "));
  EXPECT_EQ(output, "b\n");
  EXPECT_THAT(refusal("{bad\n", {.input = InputFormat::kJson}), HasSubstr("input:1: "));
  EXPECT_EQ(output, "");
}

TEST_F(LineStreamTest, WritesTheScoresBeforeTheEndOfAShorterFile) {
  write_file_atomically(folder_ / "sources", "a\nb\nc\n");
  write_file_atomically(folder_ / "targets", "a\nb\n");
  LineReader sources(folder_ / "sources"), targets(folder_ / "targets");
  std::string output;
  calls_.sinks = {{.options = {.columns = {OutputColumn::kTranslation}},
                   .write = [&](std::string_view text) { return output += text, true; }}};
  EXPECT_THROW(score_lines(sources, targets, Translator(model_, codec_, {}), calls_, log_), Error);
  EXPECT_EQ(output, "a\nb\n");
}

TEST_F(LineStreamTest, ScoresGivenTranslations) {
  EXPECT_EQ(
      scores_of("a b\n\nb\n", "a b\n\na\r\n"),
      fmt::format("{:.6f}\ta b\n0.000000\t\n{:.6f}\ta\n", 3 * std::log(0.75), std::log(0.25 / 7) + std::log(0.75)));
  EXPECT_EQ(statistics_.lines, 3);
  EXPECT_EQ(statistics_.empty, 1);
}

TEST_F(LineStreamTest, RefusesToScoreFilesOfOtherLengths) {
  EXPECT_THAT(test::message_of<Error>([&] { scores_of("a\nb\nc\n", "a\nb\n"); }),
              HasSubstr("targets: ends after line 2"));
  EXPECT_THAT(test::message_of<Error>([&] { scores_of("a\n", "a\nb\n"); }), HasSubstr("sources: ends after line 1"));
}

TEST_F(LineStreamTest, TranslatesTextsThatAreAllThere) {
  const std::vector<std::string> texts = {"b c", "", "a\nd"};
  std::string output;
  calls_.sinks = {{.options = {.columns = {OutputColumn::kLine, OutputColumn::kTranslation}},
                   .write = [&](std::string_view text) { return output += text, true; }}};
  const auto translations = translate_texts(texts, Translator(model_, codec_, {}), calls_, {});
  EXPECT_EQ(output, "1\tb c\n2\t\n3\ta d\n");
  EXPECT_EQ(translations.size(), 3u);
}

TEST_F(LineStreamTest, TellsBeforeItWaits) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  int prompts = 0;
  calls_.before_waiting = [&] {
    if (++prompts <= 2) {
      EXPECT_EQ(::write(ends[1], "b\n", 2), 2);
    } else {
      ::close(ends[1]);
    }
  };
  EXPECT_EQ(run(reader, {}, {}), "b\nb\n");
  EXPECT_EQ(prompts, 3);
  ::close(ends[0]);
}

TEST_F(LineStreamTest, EndsWhenNobodyWantsMore) {
  write_file_atomically(folder_ / "input", "a\nb\nc\nd\n");
  LineReader reader(folder_ / "input");
  int writes = 0;
  calls_.sinks = {{.options = {}, .write = [&](std::string_view) { return ++writes < 2; }}};
  const auto statistics = translate_lines(reader, Translator(model_, codec_, {}), calls_, log_, {.block_lines = 1});
  EXPECT_EQ(writes, 2);
  EXPECT_FALSE(statistics.stopped);
}

TEST_F(LineStreamTest, StopsWithinALine) {
  calls_.stop = [&] { return model_.steps.size() > 5; };
  TranslatorOptions endless;
  endless.search.min_length = 100000;
  endless.search.max_length_offset = 200000;
  const std::vector<std::string> text = {"a b"};
  const std::vector<TextPair> pair = {{.source = "a b", .target = "a b c d a b c d"}};
  EXPECT_EQ(output_of("a b\n", {}, endless), "");
  EXPECT_TRUE(statistics_.stopped);
  const Translator translator(model_, codec_, endless);
  EXPECT_THROW(translate_texts(text, translator, calls_, {}), TranslationStopped);
  EXPECT_THROW(score_texts(pair, translator, calls_), TranslationStopped);
}

TEST_F(LineStreamTest, StopsWithinABlock) {
  std::atomic<int> asked = 0;
  calls_.stop = [&] { return ++asked > 3; };
  std::string input;
  for (int i = 0; i < 100; ++i) input += "a b\n";
  EXPECT_EQ(output_of(input, {}, {.search = {{.batch_size = 1}}}), "") << "a block is written whole or not at all";
  EXPECT_TRUE(statistics_.stopped);
  EXPECT_LT(model_.started.size(), 5u);
}

TEST_F(LineStreamTest, AnswersALineOfAPipeBeforeTheNextOneComes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  std::atomic<int64_t> lines_written = 0;
  calls_.sinks = {{.options = {}, .write = [&](std::string_view text) {
                     lines_written += std::count(text.begin(), text.end(), '\n');
                     return true;
                   }}};
  std::thread worker([&] { statistics_ = translate_lines(reader, Translator(model_, codec_, {}), calls_, log_); });
  for (int line = 1; line <= 3; ++line) {
    EXPECT_EQ(::write(ends[1], "b\n", 2), 2);
    const auto start = std::chrono::steady_clock::now();
    while (lines_written < line && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(lines_written, line) << "an answer without another line, and without the end of the input";
  }
  ::close(ends[1]);
  worker.join();
  ::close(ends[0]);
  EXPECT_EQ(statistics_.lines, 3);
}

TEST_F(LineStreamTest, StopsWhileItWaitsForInput) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  int asked = 0;
  calls_.stop = [&] { return ++asked > 2; };
  EXPECT_EQ(run(reader, {}, {}), "");
  EXPECT_TRUE(statistics_.stopped);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(LineStreamTest, TranslatesTheBeginningOfALineThatIsTooLong) {
  const auto output_of_cut = [&](const std::string& input, const LineStreamOptions& options = {}) {
    write_file_atomically(folder_ / "input", input);
    LineReader reader(folder_ / "input", {.bytes = 6, .beyond = LongestLine::Beyond::kLeaveOut});
    return run(reader, options, {});
  };
  EXPECT_EQ(output_of_cut("a b\na b c d a b c d\nd\n"), "a b\na b c\nd\n");
  EXPECT_THAT(messages(), HasSubstr("input:2: more than 0 MiB: only its beginning is translated\n"));
  messages_.str("");
  EXPECT_EQ(output_of_cut("a b \xe4\xb8\xad d\n"), "a b\n") << "no half of a character";
  EXPECT_THAT(messages(), testing::Not(HasSubstr("UTF-8")));
  EXPECT_EQ(test::message_of<Error>([&] { output_of_cut("a\nb\tprefix\n", {.input = InputFormat::kTsv}); }),
            (folder_ / "input").string() + ":2: more than 0 MiB, the longest line of this format");
}

}  // namespace
}  // namespace nmt::line_stream_test
