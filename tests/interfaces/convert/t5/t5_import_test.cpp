#include "convert/t5/t5_import.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "support.h"

namespace nmt::convert::t5_import_test {
namespace {

// Heads are filled up to the model with zeros: a file of a few numbers is not to become one of billions.
TEST(T5Import, RefusesHeadsThatAreAlmostAllFilling) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "config.json")
      << R"({"model_type": "t5", "d_model": 4096, "d_kv": 1, "num_heads": 1, "d_ff": 1,
                                               "num_layers": 1, "vocab_size": 9})";
  EXPECT_THAT(test::message_of<Error>([&] { read_t5(folder.path(), {}); }),
              testing::HasSubstr("d_kv is 1: 1 heads of this size are less than a quarter of d_model 4096"));
}

}  // namespace
}  // namespace nmt::convert::t5_import_test
