#pragma once

#include "markup/segments/segment_collector.h"

namespace nmt::markup {

/// Which elements of HTML are blocks, which stay untouched (translate="no", class="notranslate", <code>, <pre>, ...),
/// and that alt, title and placeholder are text. For XHTML, too.
MarkupRules html_rules(EntitySet entities);

}  // namespace nmt::markup
