#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nmt {

/// GET /spec: interfaces/server/openapi.json, built in by CMake.
const std::string& openapi_json();

/// A file of interfaces/server/page, built in by CMake.
struct EmbeddedText {
  std::string name, text;
};
const std::vector<EmbeddedText>& page_texts();

/// A file of the page that people use the service with, as it is sent.
struct PageFile {
  std::string_view media_type;
  std::string_view text;
  std::string tag;  ///< its ETag: another one after each change
};

/// "page.html", "main.js", ...; null where there is none.
const PageFile* page_file(std::string_view name);

}  // namespace nmt
