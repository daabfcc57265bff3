#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace nmt {

/// The attributes of a start tag.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** names_and_values) : pairs_(names_and_values) {}
  /// Null where there is none of this name.
  const char* find(std::string_view name) const;

 private:
  const char** pairs_;
};

/// Takes what stands in an XML text. May throw Error: why the text is refused, without a place.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual void start(std::string_view element, const XmlAttributes& attributes) = 0;
  virtual void end(std::string_view element) = 0;
  virtual void text(std::string_view text) = 0;  ///< a part of it, references to characters resolved
};

/// Reads XML of strangers (expat) as it comes: memory does not grow with the text. Nothing is declared and nothing is
/// loaded: a DOCTYPE with declarations of its own and a reference to an entity other than XML's five are refused, and
/// so are more than 64 open elements and a single tag, comment or instruction of more than 1 MiB.
class XmlParser {
 public:
  /// The bytes are UTF-8, whatever the text says of its encoding.
  explicit XmlParser(XmlHandler& handler);
  ~XmlParser();
  XmlParser(const XmlParser&) = delete;
  XmlParser& operator=(const XmlParser&) = delete;

  /// The next bytes of the text. Throws Error: "LINE: why", with the line in the text; no call may follow.
  void read(std::string_view bytes);
  void finish();  ///< the text ends; throws as read()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace nmt
