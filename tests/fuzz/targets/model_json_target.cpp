// model.json and the tokenizer's files that it names.
#include <string>

#include "config/loading/model_description.h"
#include "config/loading/schema.h"
#include "fuzz_target.h"
#include "text/codec/codec.h"

namespace {
using namespace nmt;
using fuzz::require;
}  // namespace

NMT_FUZZ_TARGET(model_json, input) {
  static const fuzz::Folder folder, copy;
  // seeds/model_json name this file's checksum: make_seeds.py has the same words.
  static const auto vocabulary = folder.put("joint.vocab.tsv", "<PAD>\t9\n<UNK>\t9\n<S>\t9\n</S>\t9\nthe\t9\ncat\t8\n");
  folder.put("model.json", input);
  ModelDescription description;
  if (!fuzz::takes([&] { description = read_model_description(folder.path()); })) return;
  write_model_description(copy.path(), description);
  const auto again = read_model_description(copy.path());
  require(to_yaml(again.config) == to_yaml(description.config), "the configuration is read again");
  require(again.tokenizer == description.tokenizer && again.summary == description.summary &&
              again.weights == description.weights,
          "all else, too");
  fuzz::takes([&] {
    const auto codec = TextCodec::load(folder.path(), description.tokenizer);
    codec.decode_target(codec.encode_source("the Cat"));
    const auto settings = codec.save(copy.path());
    TextCodec::load(copy.path(), settings);
  });
}
