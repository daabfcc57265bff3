#pragma once

#include "documents/segments/segment_collector.h"

namespace nmt::documents {

/// Which elements of HTML are blocks, which stay untouched (translate="no", class="notranslate", <code>, <pre>, ...),
/// and that alt, title and placeholder are text. For XHTML, too.
MarkupRules html_rules(EntitySet entities);

}  // namespace nmt::documents
