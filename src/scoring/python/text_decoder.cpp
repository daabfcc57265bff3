#include "scoring/python/text_decoder.h"

#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"

namespace nmt::scoring {
namespace {

/// In lower case, without what stands between the parts of a name.
std::string plain_name(std::string_view encoding) {
  std::string name;
  for (const char c : encoding) {
    if (c != '-' && c != '_' && c != ' ') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return name;
}

}  // namespace

bool is_utf8_name(std::string_view encoding) {
  const std::string name = plain_name(encoding);
  return name == "utf8" || name == "u8" || name == "utf" || name == "cp65001";
}

bool is_utf8_sig_name(std::string_view encoding) { return plain_name(encoding) == "utf8sig"; }

std::string decode_to_utf8(std::string_view bytes, const std::string& encoding) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(encoding.c_str(), &status), ucnv_close);
  if (U_FAILURE(status)) throw Error(fmt::format("-e {}: unknown encoding", encoding));
  ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  std::vector<UChar> buffer(1 << 14);
  icu::UnicodeString text;
  const char* in = bytes.data();
  const char* const end = in + bytes.size();
  do {
    status = U_ZERO_ERROR;
    UChar* out = buffer.data();
    ucnv_toUnicode(converter.get(), &out, buffer.data() + buffer.size(), &in, end, nullptr, true, &status);
    text.append(buffer.data(), static_cast<int32_t>(out - buffer.data()));
  } while (status == U_BUFFER_OVERFLOW_ERROR);
  if (U_FAILURE(status)) throw Error(fmt::format("not {}: a byte before {} does not fit", encoding, in - bytes.data()));
  std::string utf8;
  text.toUTF8String(utf8);
  return utf8;
}

}  // namespace nmt::scoring
