#include "library/c/c_guard.h"
#include "library/c/c_objects.h"

namespace nmt::api {
namespace {

Side side_of(nmt_side side) {
  if (side == NMT_SOURCE) return Side::kSource;
  if (side == NMT_TARGET) return Side::kTarget;
  throw UserError("side: NMT_SOURCE or NMT_TARGET");
}

}  // namespace
}  // namespace nmt::api

using namespace nmt::api;

extern "C" {

size_t nmt_texts_count(const nmt_texts* texts) { return texts ? texts->texts.size() : 0; }

const char* nmt_texts_get(const nmt_texts* texts, size_t index, size_t* length) {
  const bool there = texts && index < texts->texts.size();
  if (length) *length = there ? texts->texts[index].size() : 0;
  return there ? texts->texts[index].c_str() : nullptr;
}

void nmt_texts_free(nmt_texts* texts) { delete texts; }

const int32_t* nmt_ids_get(const nmt_ids* ids, size_t* count) {
  if (count) *count = ids ? ids->ids.size() : 0;
  return ids ? ids->ids.data() : nullptr;
}

void nmt_ids_free(nmt_ids* ids) { delete ids; }

nmt_status nmt_tokenizer_new(const char* directory, nmt_tokenizer** tokenizer) {
  if (tokenizer) *tokenizer = nullptr;
  return without_exceptions([&] {
    require_name(directory, "directory");
    require(tokenizer, "tokenizer");
    *tokenizer = new nmt_tokenizer{Tokenizer(directory)};
  });
}

void nmt_tokenizer_free(nmt_tokenizer* tokenizer) { delete tokenizer; }

int64_t nmt_tokenizer_size(const nmt_tokenizer* tokenizer, nmt_side side) {
  int64_t size = 0;
  without_exceptions([&] {
    require(tokenizer, "tokenizer");
    size = tokenizer->tokenizer.size(side_of(side));
  });
  return size;
}

nmt_status nmt_tokenizer_encode(const nmt_tokenizer* tokenizer, nmt_side side, const char* text, size_t length,
                                nmt_ids** ids) {
  if (ids) *ids = nullptr;
  return without_exceptions([&] {
    require(tokenizer, "tokenizer");
    require(ids, "ids");
    *ids = new nmt_ids{tokenizer->tokenizer.encode(text_of(text, length, "text"), side_of(side))};
  });
}

nmt_status nmt_tokenizer_encode_pieces(const nmt_tokenizer* tokenizer, nmt_side side, const char* text, size_t length,
                                       nmt_texts** pieces) {
  if (pieces) *pieces = nullptr;
  return without_exceptions([&] {
    require(tokenizer, "tokenizer");
    require(pieces, "pieces");
    *pieces = new nmt_texts{tokenizer->tokenizer.encode_pieces(text_of(text, length, "text"), side_of(side))};
  });
}

nmt_status nmt_tokenizer_decode(const nmt_tokenizer* tokenizer, nmt_side side, const int32_t* ids, size_t count,
                                nmt_texts** text) {
  if (text) *text = nullptr;
  return without_exceptions([&] {
    require(tokenizer, "tokenizer");
    require(text, "text");
    if (count > 0) require(ids, "ids");
    require_room("ids", count, sizeof *ids);
    *text = new nmt_texts{{tokenizer->tokenizer.decode({ids, ids + count}, side_of(side))}};
  });
}

nmt_status nmt_metric_tokenize(const char* name, const char* text, size_t length, nmt_texts** tokens) {
  if (tokens) *tokens = nullptr;
  return without_exceptions([&] {
    require(name, "name");
    require(tokens, "tokens");
    *tokens = new nmt_texts{{MetricTokenizer(name).tokenize(text_of(text, length, "text"))}};
  });
}

}  // extern "C"
