#pragma once

#include <string>
#include <string_view>

namespace nmt {

/// A whole page that needs nothing beside it: head with the style and a policy that lets nothing be loaded, `body`, and
/// the script behind it. title: plain text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace nmt
