#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <future>
#include <memory>

#include "evaluation/tiny_model.h"
#include "library/c/c_guard.h"
#include "nmt.h"
#include "support.h"

namespace nmt::nmt_h_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

template <auto kFree>
struct Freed {
  template <typename Object>
  void operator()(Object* object) const {
    kFree(object);
  }
};
template <typename Object, auto kFree>
using Handle = std::unique_ptr<Object, Freed<kFree>>;
using Options = Handle<nmt_options, nmt_options_free>;
using Translator = Handle<nmt_translator, nmt_translator_free>;
using Translations = Handle<nmt_translations, nmt_translations_free>;
using Record = Handle<nmt_record, nmt_record_free>;
using Stop = Handle<nmt_stop, nmt_stop_free>;

Options options(const std::vector<std::pair<const char*, const char*>>& values) {
  Options result(nmt_options_new());
  for (const auto& [name, value] : values) EXPECT_EQ(nmt_options_set(result.get(), name, value), NMT_OK);
  return result;
}

class NmtH : public testing::Test {
 protected:
  NmtH() : model_(test::save_tiny_model(folder_ / "model", test::kTinyTransformer).string()) {
    nmt_translator* made = nullptr;
    EXPECT_EQ(nmt_translator_new(model_.c_str(), options({{"threads", "1"}, {"device", "cpu"}}).get(), &made), NMT_OK)
        << nmt_error_message();
    translator_.reset(made);
  }
  Translations translate(const std::vector<const char*>& lines, const Options& wanted, nmt_status expected = NMT_OK) {
    nmt_translations* made = nullptr;
    EXPECT_EQ(
        nmt_translator_translate(translator_.get(), lines.data(), nullptr, lines.size(), wanted.get(), nullptr, &made),
        expected)
        << nmt_error_message();
    EXPECT_EQ(made == nullptr, expected != NMT_OK);
    return Translations(made);
  }
  std::string refused(const Options& wanted) {
    translate({"a"}, wanted, NMT_USER_ERROR);
    return nmt_error_message();
  }
  std::string refused_translator(const std::vector<std::pair<const char*, const char*>>& values) {
    nmt_translator* none = nullptr;
    EXPECT_EQ(nmt_translator_new(model_.c_str(), options(values).get(), &none), NMT_USER_ERROR);
    return nmt_error_message();
  }

  test::TemporaryDirectory folder_;
  const std::string model_;
  Translator translator_;
};

TEST_F(NmtH, TellsAllOfATranslation) {
  const auto found =
      translate({"a b c", "", "h g"},
                options({{"n_best", "2"}, {"token_scores", "true"}, {"alignment", "1"}, {"attention", "true"}}));
  const auto* all = found.get();
  EXPECT_EQ(nmt_translations_count(all), 3u);
  EXPECT_EQ(nmt_translations_alternatives(all, 0), 2u);
  EXPECT_EQ(nmt_translations_alternatives(all, 1), 0u);
  EXPECT_STREQ(nmt_translations_best(all, 1, nullptr), "");
  size_t length = 0;
  EXPECT_STREQ(nmt_translations_best(all, 0, &length), nmt_translations_text(all, 0, 0, nullptr));
  EXPECT_EQ(length, std::strlen(nmt_translations_text(all, 0, 0, nullptr)));
  EXPECT_GE(nmt_translations_score_of(all, 0, 0), nmt_translations_score_of(all, 0, 1));
  EXPECT_LT(nmt_translations_log_probability(all, 0, 0), 0);
  const auto tokens = static_cast<size_t>(nmt_translations_tokens(all, 0, 0));
  size_t count = 0;
  const float* scores = nmt_translations_token_scores(all, 0, 0, &count);
  ASSERT_EQ(count, tokens);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += scores[i];
  EXPECT_NEAR(sum, nmt_translations_log_probability(all, 0, 0), 1e-4);
  EXPECT_STREQ(nmt_translations_piece(all, 0, 0, tokens - 1),
               nmt_translations_finished(all, 0, 0) ? "</S>" : nmt_translations_piece(all, 0, 0, tokens - 1));
  const int32_t* pairs = nmt_translations_alignment(all, 0, 0, &count);
  for (size_t i = 0; i < count; ++i) EXPECT_LT(pairs[2 * i], 3);
  size_t rows = 0, columns = 0;
  ASSERT_EQ(nmt_translations_attention_parts(all, 0, 0), 1u);
  const float* weights = nmt_translations_attention(all, 0, 0, 0, &rows, &columns);
  EXPECT_EQ(rows, tokens);
  EXPECT_EQ(columns, 3u);
  EXPECT_LE(weights[0] + weights[1] + weights[2], 1.0001F);
  EXPECT_STREQ(nmt_translations_attention_column(all, 0, 0, 0, 2), "c");
  EXPECT_STREQ(nmt_translations_attention_row(all, 0, 0, 0, 0), nmt_translations_piece(all, 0, 0, 0));
}

TEST_F(NmtH, BeyondTheEndIsNothing) {
  const auto found = translate({"a"}, options({}));
  const auto* all = found.get();
  size_t length = 7;
  EXPECT_EQ(nmt_translations_best(all, 1, &length), nullptr);
  EXPECT_EQ(length, 0u);
  EXPECT_EQ(nmt_translations_text(all, 0, 9, nullptr), nullptr);
  EXPECT_TRUE(std::isnan(nmt_translations_score_of(all, 0, 9)));
  EXPECT_TRUE(std::isnan(nmt_translations_log_probability(all, 5, 0)));
  EXPECT_EQ(nmt_translations_shortened(all, 0, 9), 0);
  EXPECT_EQ(nmt_translations_piece(all, 0, 0, 0), nullptr);
  EXPECT_EQ(nmt_translations_attention(all, 0, 0, 0, nullptr, nullptr), nullptr);
  EXPECT_EQ(nmt_translations_attention_row(all, 0, 0, 0, 0), nullptr);
  EXPECT_EQ(nmt_translations_alignment(all, 0, 0, &length), nullptr);
  EXPECT_EQ(nmt_translations_count(nullptr), 0u);
  EXPECT_EQ(nmt_record_text(nullptr, "a"), nullptr);
  EXPECT_TRUE(std::isnan(nmt_record_number(nullptr, "a")));
  nmt_translations_free(nullptr);
  nmt_translator_free(nullptr);
  nmt_options_free(nullptr);
  nmt_stop_free(nullptr);
  nmt_stop_request(nullptr);
  nmt_server_free(nullptr);
}

TEST_F(NmtH, ErrorsAreTexts) {
  EXPECT_THAT(refused(options({{"beam_size", "x"}})), HasSubstr("beam_size: 'x' is no whole number"));
  EXPECT_THAT(refused(options({{"beam_size", "0"}})), HasSubstr("it must be at least 1"));
  EXPECT_THAT(refused(options({{"beam", "4"}})), HasSubstr("beam: no such option here; there are beam_size, n_best"));
  EXPECT_THAT(refused(options({{"alignment", "maybe"}})), HasSubstr("neither true nor false"));
  EXPECT_THAT(refused(options({{"top_k", "3"}})), HasSubstr("top_k: goes with sampling"));
  EXPECT_THAT(refused(options({{"set", "beam_sise=3"}})), HasSubstr("did you mean"));
  EXPECT_THAT(refused(options({{"glossary", "none.tsv"}})), HasSubstr("none.tsv"));
  const std::string here = nmt_error_message();
  std::thread([] { EXPECT_STREQ(nmt_error_message(), "") << "of another thread"; }).join();
  EXPECT_EQ(nmt_error_message(), here);
  nmt_translator* none = translator_.get();
  EXPECT_EQ(nmt_translator_new((folder_ / "none").c_str(), nullptr, &none), NMT_USER_ERROR);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(nmt_translator_new(model_.c_str(), nullptr, nullptr), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "translator is NULL");
  nmt_translations* nothing = nullptr;
  const char* line = nullptr;
  EXPECT_EQ(nmt_translator_translate(translator_.get(), &line, nullptr, 1, nullptr, nullptr, &nothing), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "lines[0] is NULL");
  EXPECT_EQ(nmt_options_set(nullptr, "a", "b"), NMT_USER_ERROR);
  EXPECT_EQ(nmt_options_set_int(nullptr, "a", 1), NMT_USER_ERROR);
}

TEST_F(NmtH, MessagesAreOneLineOfUtf8) {
  EXPECT_THAT(refused(options({{"a\nb\xff", "1"}})), StartsWith("a?b?: no such option here; there are "));
  EXPECT_THAT(refused(options({{"", "1"}})), StartsWith("'': no such option here"));
  EXPECT_THAT(refused(options({{"alignment", "\x1b[1m"}})), HasSubstr("'?[1m' is neither true nor false"));
  EXPECT_THAT(refused_translator({{"threads", "1\n\x1b[31m2"}}), StartsWith("threads: '1??[31m2' is no whole"));
  nmt_scorer* scorer = nullptr;
  EXPECT_EQ(nmt_scorer_new("chrf\n\xff", nullptr, &scorer), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), StartsWith("metric 'chrf?\?'"));
  EXPECT_EQ(api::without_exceptions([] { throw std::runtime_error("one\ntwo \xff\x1b"); }), NMT_MACHINE_ERROR);
  EXPECT_STREQ(nmt_error_message(), "one two ??");
}

TEST_F(NmtH, RefusesWhatNoMemoryHolds) {
  const char* line = "a";
  const size_t length = SIZE_MAX - 1;
  nmt_translations* made = nullptr;
  const auto translate_many = [&](const size_t* lengths, size_t count) {
    return nmt_translator_translate(translator_.get(), &line, lengths, count, nullptr, nullptr, &made);
  };
  EXPECT_EQ(translate_many(nullptr, SIZE_MAX), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "lines: 18446744073709551615 of them; no memory holds so many");
  EXPECT_EQ(translate_many(&length, 1), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "lines[0]: 18446744073709551614 bytes; no memory holds so many");
}

TEST_F(NmtH, NamesAndListsAreComplete) {
  EXPECT_EQ(refused_translator({{"weights", "1,"}}), "weights: '1,' lacks a number beside a comma; write 1,2");
  nmt_tokenizer* tokenizer = nullptr;
  EXPECT_EQ(nmt_tokenizer_new("", &tokenizer), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "directory: the name is empty; give one");
  EXPECT_EQ(nmt_translator_translate_file(translator_.get(), "", "out", nullptr, nullptr, nullptr), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), StartsWith("input: the name is empty"));
  EXPECT_EQ(nmt_translator_translate_file(translator_.get(), "none", "", nullptr, nullptr, nullptr), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), StartsWith("output: the name is empty"));
}

TEST_F(NmtH, NumbersAsOptionsFailAsTextsDo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's allocator ends the process where no memory is left";
#endif
  const auto given = options({});
  const std::string name(size_t{1} << 27, 'a');
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{1, 1};
    ::setrlimit(RLIMIT_AS, &none);
    const auto whole = nmt_options_set_int(given.get(), name.c_str(), 1);
    ::_exit(10 * whole + nmt_options_set_double(given.get(), name.c_str(), 1));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 10 * NMT_MACHINE_ERROR + NMT_MACHINE_ERROR);
}

TEST_F(NmtH, BytesHaveALength) {
  const char bytes[] = {'a', '\0', 'b', '\xFF'};
  const char* line = bytes;
  const size_t length = sizeof bytes;
  nmt_translations* made = nullptr;
  ASSERT_EQ(nmt_translator_translate(translator_.get(), &line, &length, 1, nullptr, nullptr, &made), NMT_OK);
  EXPECT_EQ(nmt_translations_repaired(made, 0), 1);
  nmt_translations_free(made);
}

TEST_F(NmtH, Streams) {
  struct Lines {
    std::vector<std::string> in, out;
    size_t next = 0;
    int says = 1;
  } lines{{"a b", "c", "d e f"}, {}};
  const auto source = [](void* user, const char** line, size_t* length) {
    auto& own = *static_cast<Lines*>(user);
    if (own.next == own.in.size()) return 0;
    *line = own.in[own.next].data();
    *length = own.in[own.next++].size();
    return 1;
  };
  const auto sink = [](void* user, int64_t number, const nmt_translations* translations) {
    auto& own = *static_cast<Lines*>(user);
    EXPECT_EQ(number, static_cast<int64_t>(own.out.size()));
    own.out.emplace_back(nmt_translations_best(translations, 0, nullptr));
    return own.says;
  };
  int64_t count = 0;
  const auto run = [&] {
    return nmt_translator_stream(translator_.get(), source, &lines, sink, &lines, options({{"block_lines", "2"}}).get(),
                                 nullptr, &count);
  };
  EXPECT_EQ(run(), NMT_OK);
  EXPECT_EQ(count, 3);
  const auto all = translate({"a b", "c", "d e f"}, options({}));
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(lines.out[i], nmt_translations_best(all.get(), i, nullptr));
  lines = {lines.in, {}, 0, 0};
  EXPECT_EQ(run(), NMT_OK);
  EXPECT_EQ(lines.out.size(), 1u);
  lines = {lines.in, {}, 0, -1};
  EXPECT_EQ(run(), NMT_CALLBACK);
}

TEST_F(NmtH, ACancelledThreadEndsAfterTheCall) {
  struct Call {
    nmt_translator* translator = nullptr;
    std::promise<void> inside = {}, cancelled = {};
    nmt_status ended = NMT_MACHINE_ERROR;
  } call{translator_.get()};
  const auto run = [](void* user) -> void* {
    const auto source = [](void* inner, const char**, size_t*) {
      static_cast<Call*>(inner)->inside.set_value();
      static_cast<Call*>(inner)->cancelled.get_future().wait();
      ::pthread_testcancel();
      return 0;
    };
    const auto sink = [](void*, int64_t, const nmt_translations*) { return 1; };
    auto& own = *static_cast<Call*>(user);
    own.ended = nmt_translator_stream(own.translator, source, user, sink, nullptr, nullptr, nullptr, nullptr);
    ::pthread_testcancel();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(::pthread_create(&thread, nullptr, run, &call), 0);
  call.inside.get_future().wait();
  EXPECT_EQ(::pthread_cancel(thread), 0);
  call.cancelled.set_value();
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(thread, &result), 0);
  EXPECT_EQ(call.ended, NMT_OK);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST_F(NmtH, Stops) {
  const Stop stop(nmt_stop_new());
  nmt_stop_request(stop.get());
  nmt_translations* made = nullptr;
  const char* line = "a";
  EXPECT_EQ(nmt_translator_translate(translator_.get(), &line, nullptr, 1, nullptr, stop.get(), &made), NMT_STOPPED);
  EXPECT_EQ(made, nullptr);
}

TEST_F(NmtH, TellsWhatWasCutToBeScored) {
  nmt_translator* made = nullptr;
  const auto wanted = options({{"threads", "1"}, {"device", "cpu"}, {"max_source_length", "3"}});
  ASSERT_EQ(nmt_translator_new(model_.c_str(), wanted.get(), &made), NMT_OK) << nmt_error_message();
  const Translator narrow(made);
  const char* sources[] = {"a b c d e f", "a"};
  const char* targets[] = {"h", "h"};
  nmt_translations* scored = nullptr;
  ASSERT_EQ(nmt_translator_score(made, sources, nullptr, targets, nullptr, 2, nullptr, nullptr, &scored), NMT_OK);
  EXPECT_EQ(nmt_translations_shortened(scored, 0, 0), 1);
  EXPECT_EQ(nmt_translations_shortened(scored, 1, 0), 0);
  nmt_translations_free(scored);
}

TEST_F(NmtH, Scores) {
  nmt_scorer* scorer = nullptr;
  ASSERT_EQ(nmt_scorer_new("bleu", options({{"tokenizer", "13a"}, {"lowercase", "true"}}).get(), &scorer), NMT_OK);
  const char* hypotheses[] = {"The cat sat on the mat"};
  const char* references[] = {"the cat sat on the mat", "a cat"};
  nmt_record* made = nullptr;
  ASSERT_EQ(nmt_scorer_corpus(scorer, hypotheses, 1, references, 2, nullptr, &made), NMT_OK) << nmt_error_message();
  const Record score(made);
  EXPECT_STREQ(nmt_record_kind(made), "score");
  EXPECT_NEAR(nmt_record_number(made, "score"), 100, 1e-9);
  EXPECT_STREQ(nmt_record_text(made, "signature"), "nrefs:2|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0");
  size_t count = 0;
  EXPECT_NEAR(nmt_record_numbers(made, "precisions", &count)[3], 100, 1e-9);
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(nmt_record_has(made, "precisions") + nmt_record_has(made, "name") + nmt_record_has(made, "edits"), 2);
  nmt_record* sentence = nullptr;
  ASSERT_EQ(nmt_scorer_sentence(scorer, "a", references, 1, &sentence), NMT_OK);
  nmt_record_free(sentence);
  EXPECT_EQ(nmt_scorer_sentence(scorer, "a", references, SIZE_MAX, &sentence), NMT_USER_ERROR);
  EXPECT_EQ(nmt_scorer_corpus(scorer, hypotheses, 1, references, 0, nullptr, &sentence), NMT_USER_ERROR);
  EXPECT_EQ(nmt_scorer_corpus(scorer, hypotheses, SIZE_MAX, references, 1, nullptr, &sentence), NMT_USER_ERROR);
  for (const size_t sets : {SIZE_MAX / 2 + 1, SIZE_MAX / 100}) {  // of 2 lines each
    EXPECT_EQ(nmt_scorer_corpus(scorer, hypotheses, 2, references, sets, nullptr, &sentence), NMT_USER_ERROR);
    EXPECT_THAT(nmt_error_message(), StartsWith("sets: " + std::to_string(sets)));
  }
  nmt_scorer_free(scorer);
  EXPECT_EQ(nmt_scorer_new("meteor", nullptr, &scorer), NMT_USER_ERROR);
  EXPECT_STREQ(nmt_error_message(), "metric 'meteor': one of bleu, chrf, ter");
  EXPECT_EQ(nmt_scorer_new("ter", options({{"tokenizer", "13a"}}).get(), &scorer), NMT_USER_ERROR);
}

TEST_F(NmtH, Tokenizes) {
  nmt_tokenizer* tokenizer = nullptr;
  ASSERT_EQ(nmt_tokenizer_new(model_.c_str(), &tokenizer), NMT_OK);
  EXPECT_EQ(nmt_tokenizer_size(tokenizer, NMT_TARGET), 12);
  nmt_ids* ids = nullptr;
  ASSERT_EQ(nmt_tokenizer_encode(tokenizer, NMT_SOURCE, "a b", NMT_TERMINATED, &ids), NMT_OK);
  size_t count = 0;
  EXPECT_EQ(nmt_ids_get(ids, &count)[1], 5);
  nmt_texts* text = nullptr;
  ASSERT_EQ(nmt_tokenizer_decode(tokenizer, NMT_TARGET, nmt_ids_get(ids, nullptr), count, &text), NMT_OK);
  EXPECT_STREQ(nmt_texts_get(text, 0, nullptr), "a b");
  EXPECT_EQ(nmt_texts_get(text, 1, nullptr), nullptr);
  nmt_texts_free(text);
  nmt_ids_free(ids);
  ASSERT_EQ(nmt_tokenizer_encode_pieces(tokenizer, NMT_SOURCE, "a b", 1, &text), NMT_OK);
  EXPECT_EQ(nmt_texts_count(text), 1u);
  nmt_texts_free(text);
  const int32_t beyond = 99;
  EXPECT_EQ(nmt_tokenizer_decode(tokenizer, NMT_TARGET, &beyond, 1, &text), NMT_USER_ERROR);
  EXPECT_EQ(nmt_tokenizer_decode(tokenizer, NMT_TARGET, &beyond, SIZE_MAX / 4, &text), NMT_USER_ERROR);
  EXPECT_EQ(nmt_tokenizer_encode(tokenizer, static_cast<nmt_side>(7), "a", 1, &ids), NMT_USER_ERROR);
  nmt_tokenizer_free(tokenizer);
  ASSERT_EQ(nmt_metric_tokenize("13a", "Hello, world.", NMT_TERMINATED, &text), NMT_OK);
  EXPECT_STREQ(nmt_texts_get(text, 0, nullptr), "Hello , world .");
  nmt_texts_free(text);
}

TEST_F(NmtH, Serves) {
  nmt_server* server = nullptr;
  ASSERT_EQ(
      nmt_server_new(model_.c_str(), options({{"device", "cpu"}, {"threads", "1"}}).get(), nullptr, nullptr, &server),
      NMT_OK)
      << nmt_error_message();
  EXPECT_THAT(nmt_server_url(server), HasSubstr("http://127.0.0.1:"));
  nmt_server_free(server);
  EXPECT_EQ(nmt_server_new(nullptr, nullptr, nullptr, nullptr, &server), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), HasSubstr("config_file"));
  EXPECT_EQ(nmt_server_new(model_.c_str(), options({{"address", "nowhere:x"}}).get(), nullptr, nullptr, &server),
            NMT_USER_ERROR);
  const auto refused_server = [&](const char* option, const char* value) -> std::string {
    EXPECT_EQ(
        nmt_server_new(model_.c_str(), options({{"device", "cpu"}, {option, value}}).get(), nullptr, nullptr, &server),
        NMT_USER_ERROR);
    nmt_server_free(server);
    return nmt_error_message();
  };
  EXPECT_EQ(refused_server("max_characters", "-5"),
            "max_characters -5: use 1 or more, or 0 for as many as nmt-translate takes");
  EXPECT_EQ(refused_server("requests_per_minute", "-1"), "requests_per_minute -1: use 1 or more, or 0 for no limit");
  EXPECT_EQ(refused_server("characters_per_minute", "-1"),
            "characters_per_minute -1: use 1 or more, or 0 for no limit");
  EXPECT_EQ(refused_server("queue_lines", "0"), "queue_lines 0: use 1 or more");
  EXPECT_EQ(refused_server("threads", "-1"), "threads -1: use 1 to 1024, or 0 for all processors");
  EXPECT_STREQ(nmt_version(), "0.2.0");
}

TEST(NmtHTraining, ErrorsAreTexts) {
  nmt_record* result = nullptr;
  EXPECT_EQ(nmt_train("none.yaml", nullptr, nullptr, nullptr, nullptr, nullptr, &result), NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), HasSubstr("none.yaml"));
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(nmt_prepare(nullptr, options({{"set", "data.nothing=1"}}).get(), nullptr, nullptr, nullptr, nullptr),
            NMT_USER_ERROR);
  EXPECT_THAT(nmt_error_message(), HasSubstr("unknown option data.nothing"));
  EXPECT_EQ(nmt_train(nullptr, options({{"overwrite", "true"}}).get(), nullptr, nullptr, nullptr, nullptr, nullptr),
            NMT_USER_ERROR);
}

}  // namespace
}  // namespace nmt::nmt_h_test
