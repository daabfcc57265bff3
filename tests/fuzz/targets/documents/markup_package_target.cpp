#include "archive.h"
#include "documents/document.h"
#include "documents/markup_checks.h"
#include "documents/packages/packaged_document.h"
#include "documents/tokens/xml_tokenizer.h"
#include "fuzz_target.h"
#include "text/alignment/toy_translators.h"

namespace {

using nmt::DocumentFormat;

constexpr DocumentFormat kFormats[] = {DocumentFormat::kDocx, DocumentFormat::kPptx, DocumentFormat::kOdt,
                                       DocumentFormat::kEpub};

/// An archive in which `part` has the place of the text.
std::string package_of(DocumentFormat format, const std::string& part, std::string& name) {
  name = format == DocumentFormat::kDocx   ? "word/document.xml"
         : format == DocumentFormat::kPptx ? "ppt/slides/slide1.xml"
         : format == DocumentFormat::kOdt  ? "content.xml"
                                           : "a.xhtml";
  nmt::test::Archive archive;
  archive.add("mimetype", "x").add_deflated(name, part);
  const auto related = [&](const char* list, const char* way, const char* target) {
    archive.add(list, std::string("<r><Relationship Type='x/") + way + "' Target='" + target + "'/></r>");
  };
  related("_rels/.rels", "officeDocument", format == DocumentFormat::kDocx ? "word/document.xml" : "ppt/p.xml");
  related("ppt/_rels/p.xml.rels", "slide", "slides/slide1.xml");
  archive.add("ppt/p.xml", "");
  archive.add("META-INF/container.xml", "<c><rootfile full-path='a.opf'/></c>");
  archive.add("a.opf", "<p><item href='a.xhtml' media-type='application/xhtml+xml'/></p>");
  return archive.bytes();
}

}  // namespace

NMT_FUZZ_TARGET(markup_package, input) {
  using namespace nmt;
  DocumentLimits limits;
  limits.unpacked_bytes = 1 << 20;
  if (input.starts_with("PK")) {
    for (const auto format : kFormats)
      fuzz::takes([&] { fuzz::look_at(translate_document(format, input, test::scramble, limits)); });
    return;
  }
  for (const auto format : kFormats) {
    std::string name, out;
    const std::string package = package_of(format, std::string(input), name);
    if (!fuzz::takes([&] { out = translate_document(format, package, test::scramble, limits); })) continue;
    const auto before = documents::open_package(package, limits), after = documents::open_package(out, {});
    fuzz::require(before.names() == after.names(), "entries keep their order");
    const std::string part = after.read(name);
    const auto tokens = documents::tokenize_xml(part, 256, "out.xml");
    if (format == DocumentFormat::kDocx || format == DocumentFormat::kPptx) continue;  // runs are made again
    fuzz::require(test::tags_of(documents::tokenize_xml(input, 256, "in.xml")) == test::tags_of(tokens),
                  "all tags are there");
  }
}
