#pragma once

#include <string_view>

#include "nmt/translator.h"
#include "text/codec/codec.h"
#include "translation/lines/translation.h"

namespace nmt::api {

/// A result of the inner translator as this interface has it. line: what was translated, UTF-8.
Alternative to_alternative(nmt::Alternative found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options);
Translation to_translation(nmt::Translation found, std::string_view line, const nmt::TextCodec& codec,
                           const TranslateOptions& options);

}  // namespace nmt::api
