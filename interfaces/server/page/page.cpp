#include "server/page/page.h"

#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/files/file.h"

namespace nmt {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMediaTypes = {
    {{".html", "text/html; charset=utf-8"},
     {".css", "text/css; charset=utf-8"},
     {".js", "text/javascript; charset=utf-8"},
     {".svg", "image/svg+xml"}}};

std::string_view media_type_of(std::string_view name) {
  for (const auto& [extension, type] : kMediaTypes) {
    if (name.ends_with(extension)) return type;
  }
  throw Error(std::string(name) + ": no media type is known for a file of the page");
}

using PageFiles = std::map<std::string, PageFile, std::less<>>;

PageFiles all_files() {
  PageFiles files;
  for (const auto& [name, text] : page_texts())
    files[name] = {.media_type = media_type_of(name), .text = text, .tag = '"' + sha256_of_bytes(text) + '"'};
  return files;
}

}  // namespace

const PageFile* page_file(std::string_view name) {
  static const PageFiles files = all_files();
  const auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

}  // namespace nmt
