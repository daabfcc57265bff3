#include "text/codec/codec.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "support.h"
#include "text/files.h"
#include "text/sentencepiece/sentencepiece_tokenizer.h"
#include "text/sentencepiece/sentencepiece_trainer.h"
#include "text/training_lines.h"
#include "text/words.h"

namespace nmt::codec_test {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using test::training_lines;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

std::shared_ptr<const Tokenizer> tokenizer(uint64_t seed) {
  return std::make_shared<SentencePieceTokenizer>(*train_sentencepiece(training_lines(400, seed), {.vocab_size = 100}),
                                                  "m");
}

TextCodec joint_codec(TextCodec::Options options = {}) {
  static const auto both = tokenizer(1);
  return {std::move(options), both, both};
}

TextCodec separate_codec() {
  static const auto source = tokenizer(1), target = tokenizer(2);
  return {{.lowercase = true, .nfkc = true, .source_language = "de", .target_language = "en"}, source, target};
}

TEST(TextCodec, LoadsWhatItSaved) {
  const TemporaryDirectory folder;
  const TextCodec saved = separate_codec();
  const auto settings = saved.save(folder.path());
  // Through text, as it travels in model.json.
  const TextCodec loaded = TextCodec::load(folder.path(), nlohmann::json::parse(settings.dump()));
  EXPECT_TRUE(std::filesystem::exists(folder / "source.spm"));
  EXPECT_TRUE(std::filesystem::exists(folder / "target.spm"));
  EXPECT_FALSE(loaded.joint());
  EXPECT_TRUE(loaded.options().lowercase);
  EXPECT_TRUE(loaded.options().nfkc);
  EXPECT_EQ(loaded.options().source_language, "de");
  EXPECT_EQ(loaded.options().target_language, "en");
  const auto line = training_lines().front();
  EXPECT_EQ(loaded.encode_source(line), saved.encode_source(line));
  EXPECT_EQ(loaded.encode_target(line), saved.encode_target(line));
  EXPECT_NE(loaded.encode_target(line), saved.encode_source(line));
}

TEST(TextCodec, AJointOneHasOneFileAndOneTokenizer) {
  const TemporaryDirectory folder;
  const auto settings = joint_codec().save(folder.path());
  EXPECT_TRUE(std::filesystem::exists(folder / "spm.model"));
  const auto loaded = TextCodec::load(folder.path(), settings);
  EXPECT_TRUE(loaded.joint());
  EXPECT_EQ(&loaded.source(), &loaded.target());
}

TEST(TextCodec, NormalisesBothSidesBeforeEncoding) {
  const auto plain = joint_codec(), folding = joint_codec({.lowercase = true, .nfkc = true});
  EXPECT_EQ(folding.encode_source(" DER \uFF25IN "), plain.encode_source("der ein"));
  EXPECT_EQ(folding.encode_target("DER EIN"), plain.encode_target("der ein"));
  EXPECT_NE(plain.encode_source("DER EIN"), plain.encode_source("der ein"));
  EXPECT_NO_THROW(folding.encode_source("\xFF DER"));
  EXPECT_EQ(plain.decode_target(plain.encode_target("der ein.")), "der ein.");
}

TEST(TextCodec, PutsThePrefixBeforeEachSource) {
  const auto plain = joint_codec(), prefixed = joint_codec({.lowercase = true, .source_prefix = "Der Ein: "});
  EXPECT_EQ(prefixed.encode_source(" EIN haus "), plain.encode_source("Der Ein: ein haus"));  // stays as it is written
  EXPECT_EQ(prefixed.encode_target("ein haus"), plain.encode_target("ein haus"));
  EXPECT_EQ(prefixed.normalized("EIN"), "ein");
  for (const char* nothing : {"", "  ", "\u200b"}) EXPECT_TRUE(prefixed.encode_source(nothing).empty()) << nothing;
  const auto prefix = plain.encode_source("Der Ein:");
  EXPECT_EQ(prefixed.prefix_length(), std::ssize(prefix));
  EXPECT_EQ(prefixed.prefix_length(prefixed.encode_source("ein haus")), std::ssize(prefix));
  EXPECT_EQ(prefixed.prefix_length(std::vector(prefix.begin(), prefix.begin() + 2)), 2);
  EXPECT_EQ(plain.prefix_length(plain.encode_source("ein haus")), 0);
}

TEST(TextCodec, SavesAPrefixAndSaysNothingOfNone) {
  const TemporaryDirectory folder;
  const auto saved = joint_codec({.source_prefix = "to English: \u00fc "});
  const auto settings = nlohmann::json::parse(saved.save(folder.path()).dump());
  const auto loaded = TextCodec::load(folder.path(), settings);
  EXPECT_EQ(loaded.options().source_prefix, "to English: \u00fc ");
  EXPECT_EQ(loaded.encode_source("der ein"), saved.encode_source("der ein"));
  EXPECT_FALSE(joint_codec().save(folder.path()).contains("source_prefix"));  // the hash of older data stays
}

TEST(TextCodec, SavesThatBothSidesHaveTags) {
  const TemporaryDirectory folder;
  const auto settings = nlohmann::json::parse(joint_codec({.tags_both_sides = true}).save(folder.path()).dump());
  EXPECT_TRUE(TextCodec::load(folder.path(), settings).options().tags_both_sides);
  EXPECT_THAT(codec_differences(joint_codec({.tags_both_sides = true}), joint_codec()), SizeIs(1));
  EXPECT_FALSE(joint_codec().save(folder.path()).contains("tags_both_sides"));  // the hash of older data stays
}

std::shared_ptr<const Tokenizer> words(const std::string& line, WordLimits limits) {
  WordCounts counts;
  counts.add(line);
  return std::make_shared<WordTokenizer>(counts.to_tsv(), "v", limits);
}

TEST(TextCodec, KeepsWordVocabulariesWithTheirLimits) {
  const TemporaryDirectory folder;
  const WordLimits limits{.min_count = 2, .max_size = 6};
  const TextCodec saved({.latin_only = true,
                         .source_language = "de",
                         .target_language = "en",
                         .source_markers = SourceMarkers::kBoth,
                         .reverse_source = true},
                        words("a a a b b c c", limits), words("x x y", limits));
  const auto settings = saved.save(folder.path());
  EXPECT_TRUE(std::filesystem::exists(folder / "de.vocab.tsv"));
  EXPECT_TRUE(std::filesystem::exists(folder / "en.vocab.tsv"));
  const TextCodec loaded = TextCodec::load(folder.path(), nlohmann::json::parse(settings.dump()));
  EXPECT_EQ(loaded.source().size(), 6);
  EXPECT_EQ(loaded.target().size(), 5);
  EXPECT_TRUE(loaded.options().latin_only);
  EXPECT_EQ(loaded.options().source_form(), SourceForm(SourceMarkers::kBoth, /*reversed=*/true));
  EXPECT_THAT(loaded.encode_source("b2, a c!"), testing::ElementsAre(5, 4, 1));
  EXPECT_EQ(loaded.decode_target(std::vector<int32_t>{4, 4, 3}), "x x");
  EXPECT_EQ(loaded.save(folder.path()), settings);

  std::ofstream(folder / "en.vocab.tsv", std::ios::app) << "more\t1\n";
  EXPECT_THAT(message_of<Error>([&] { TextCodec::load(folder.path(), settings); }),
              HasSubstr("en.vocab.tsv: damaged, or of another model (its checksum differs)"));
}

TEST(TextCodec, WordVocabulariesOfOneLanguageOrJointHaveOtherNames) {
  const TemporaryDirectory folder;
  const TextCodec monolingual({.source_language = "en", .target_language = "en"}, words("a", {}), words("b", {}));
  EXPECT_THAT(monolingual.save(folder.path())["files"].dump(),
              testing::AllOf(HasSubstr("source.vocab.tsv"), HasSubstr("target.vocab.tsv")));
  const auto both = words("a", {});
  const auto settings = TextCodec({}, both, both).save(folder.path());
  EXPECT_THAT(settings["files"].dump(), HasSubstr("joint.vocab.tsv"));
  EXPECT_TRUE(TextCodec::load(folder.path(), settings).joint());
}

TEST(TextCodec, ReadsTheSettingsOfOlderVersions) {
  const TemporaryDirectory folder;
  auto settings = joint_codec().save(folder.path());
  settings.erase("latin_only");
  settings.erase("source_markers");
  settings.erase("reverse_source");
  const auto loaded = TextCodec::load(folder.path(), settings);
  EXPECT_FALSE(loaded.options().latin_only);
  EXPECT_EQ(loaded.options().source_form(), SourceForm(SourceMarkers::kEnd));
}

TEST(TextCodec, SaysWhatIsMissingOrDamaged) {
  const TemporaryDirectory folder;
  const auto settings = joint_codec().save(folder.path());
  const auto message = [&](const nlohmann::json& json) {
    return message_of<Error>([&] { TextCodec::load(folder.path(), json); });
  };
  auto without = settings;
  without.erase("joint");
  EXPECT_THAT(message(without), EndsWith(": the tokenizer's settings lack a valid \"joint\"; make it again"));
  EXPECT_THAT(message(nlohmann::json()), HasSubstr("lack a valid \"type\""));
  auto other = settings;
  other["type"] = "characters";
  EXPECT_THAT(message(other),
              EndsWith(": a tokenizer of type characters, which this version does not know; use a newer one"));
  auto separate = settings;
  separate["joint"] = false;
  EXPECT_THAT(message(separate), EndsWith("do not name source.spm; make it again"));

  // It would become a path that leaves the folder.
  auto elsewhere = settings;
  elsewhere["source_language"] = "../de";
  EXPECT_THAT(message(elsewhere), EndsWith("\"source_language\" is no name of a language; make it again"));
  elsewhere["source_language"] = "de";
  elsewhere["target_language"] = std::string("e\0n", 3);
  EXPECT_THAT(message(elsewhere), EndsWith("\"target_language\" is no name of a language; make it again"));

  // Cut at the end of a piece: still a protocol buffer, but of fewer pieces.
  const auto path = (folder / "spm.model").string();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 40);
  EXPECT_EQ(message(settings), path + ": damaged, or of another model (its checksum differs); make or copy it again");
  std::filesystem::remove(path);
  EXPECT_THAT(message(settings), HasSubstr(path));
}

}  // namespace
}  // namespace nmt::codec_test
