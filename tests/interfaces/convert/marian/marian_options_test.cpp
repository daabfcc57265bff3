#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "convert/marian/marian_npz.h"
#include "support.h"

namespace nmt::convert::marian_options_test {
namespace {

using test::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(MarianOptions, ReadsWhatIsThere) {
  const MarianOptions options("dim-emb: 512\ntied-embeddings-all: true\ntype: transformer\nmodels:\n  - a.npz\n", "x");
  EXPECT_EQ(options.number("dim-emb"), 512);
  EXPECT_TRUE(options.flag("tied-embeddings-all", false));
  EXPECT_EQ(options.text("type", ""), "transformer");
  EXPECT_EQ(options.text("none", "absent"), "absent");
  EXPECT_THAT(options.list("models"), ElementsAre("a.npz"));
  EXPECT_FALSE(options.has("none"));
}

TEST(MarianOptions, RefusesOtherKinds) {
  const MarianOptions options("dim-emb: many\nmodels: {a: b}\n", "m.yml");
  EXPECT_THAT(message_of<Error>([&] { options.number("dim-emb"); }), HasSubstr("m.yml: dim-emb: a value of the wrong"));
  EXPECT_THAT(message_of<Error>([&] { options.number("none"); }), HasSubstr("none is missing"));
  EXPECT_THAT(message_of<Error>([&] { options.list("models"); }), HasSubstr("models"));
  EXPECT_THAT(message_of<Error>([] { MarianOptions("- a\n", "m.yml"); }), HasSubstr("not a map"));
  EXPECT_THAT(message_of<Error>([] { MarianOptions(std::string(1 << 17, '#'), "m.yml"); }), HasSubstr("too many"));
  EXPECT_THAT(message_of<Error>([] { MarianOptions("a: [b\n", "m.yml"); }), HasSubstr("m.yml:"));
}

}  // namespace
}  // namespace nmt::convert::marian_options_test
