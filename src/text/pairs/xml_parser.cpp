#include "text/pairs/xml_parser.h"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.h"

namespace nmt {
namespace {

constexpr int64_t kDepth = 64;
constexpr int64_t kTokenBytes = 1 << 20;

}  // namespace

const char* XmlAttributes::find(std::string_view name) const {
  for (const char** pair = pairs_; *pair != nullptr; pair += 2)
    if (*pair == name) return pair[1];
  return nullptr;
}

struct XmlParser::State {
  explicit State(XmlHandler& to) : handler(to), parser(XML_ParserCreate("UTF-8")) {
    if (!parser) throw MachineError("out of memory for XML");
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          of(self).call([&](State& s) {
            if (++s.depth > kDepth) throw Error(fmt::format("more than {} elements are open", kDepth));
            s.handler.start(name, XmlAttributes(attributes));
          });
        },
        [](void* self, const XML_Char* name) {
          of(self).call([&](State& s) {
            --s.depth;
            s.handler.end(name);
          });
        });
    XML_SetCharacterDataHandler(parser, [](void* self, const XML_Char* text, int length) {
      of(self).call([&](State& s) { s.handler.text({text, static_cast<size_t>(length)}); });
    });
    XML_SetStartDoctypeDeclHandler(
        parser, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int has_declarations) {
          of(self).call([&](State&) {
            if (has_declarations) throw Error("a DOCTYPE with declarations of its own; remove what its [ ] hold");
          });
        });
    XML_SetSkippedEntityHandler(parser, [](void* self, const XML_Char* name, int) {
      of(self).call([&](State&) { throw Error(fmt::format("&{}; is no entity of XML itself", name)); });
    });
    XML_SetDefaultHandler(parser, [](void* self, const XML_Char*, int) { of(self).call([](State&) {}); });
  }
  ~State() { XML_ParserFree(parser); }

  static State& of(void* self) { return *static_cast<State*>(self); }

  /// What a handler of expat does: no exception may pass through expat.
  template <typename F>
  void call(F&& body) {
    if (failure) return;
    last_token = bytes;
    try {
      body(*this);
    } catch (...) {
      failure = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(fmt::format("{}: {}", XML_GetCurrentLineNumber(parser), why));
  }

  void parse(std::string_view text, bool is_last) {
    bytes += static_cast<int64_t>(text.size());
    const auto status = XML_Parse(parser, text.data(), static_cast<int>(text.size()), is_last);
    if (failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const Error& error) {
        refuse(error.what());
      }
    }
    if (status == XML_STATUS_ERROR) refuse(fmt::format("is no XML ({})", XML_ErrorString(XML_GetErrorCode(parser))));
    if (bytes - last_token > kTokenBytes)
      refuse(fmt::format("a tag or comment of more than {} MiB", kTokenBytes >> 20));
  }

  XmlHandler& handler;
  XML_Parser parser;
  std::exception_ptr failure;
  int64_t depth = 0;
  int64_t bytes = 0, last_token = 0;  // read; read when a token was last complete
};

XmlParser::XmlParser(XmlHandler& handler) : state_(std::make_unique<State>(handler)) {}
XmlParser::~XmlParser() = default;

void XmlParser::read(std::string_view bytes) {
  // Each piece is at most as long as a token may be, so that the check comes in time.
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), kTokenBytes)))
    state_->parse(bytes.substr(0, kTokenBytes), false);
}

void XmlParser::finish() { state_->parse({}, true); }

}  // namespace nmt
