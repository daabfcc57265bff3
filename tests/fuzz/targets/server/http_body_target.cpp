// Bodies of requests to nmt-translate --serve: JSON and both kinds of forms. The first line is the type.
#include "base/unicode.h"
#include "fuzz_target.h"
#include "server/http/form.h"
#include "server/http/http_message.h"
#include "server/request_body.h"

namespace {

using namespace nmt;

template <typename Body>
void refuses_or_takes(Body&& body) {
  try {
    body();
  } catch (const RequestError& refused) {
    fuzz::require(refused.status() == 400 && refused.what()[0] != '\0', "a refusal says why");
  }
}

void read_fields(const RequestBody& body) {
  for (const char* name : {"q", "source", "alternatives", "attention"}) {
    refuses_or_takes([&] {
      for (const auto& text : body.texts(name))
        fuzz::require(!find_invalid_utf8(text) && text.find('\0') == std::string::npos, "texts are UTF-8");
    });
    refuses_or_takes([&] { fuzz::look_at(body.text(name)); });
    refuses_or_takes([&] { fuzz::require(body.whole_number(name, 1) >= 0, "numbers are not negative"); });
    refuses_or_takes([&] { body.yes_or_no(name); });
  }
}

}  // namespace

NMT_FUZZ_TARGET(http_body, input) {
  const std::string_view type = input.substr(0, input.find('\n'));
  const std::string_view bytes = input.substr(std::min(type.size() + 1, input.size()));
  refuses_or_takes([&] { read_fields(RequestBody::from_json(std::string(bytes))); });
  refuses_or_takes([&] { read_fields(RequestBody::from_form(parse_form(bytes))); });
  refuses_or_takes([&] {
    for (const FormPart& part : parse_multipart(bytes, type)) {
      fuzz::require(part.file_name.find_first_of("/\\") == std::string::npos, "a file's name is no path");
      fuzz::look_at(part.name + part.file_name);
      fuzz::look_at(part.content);
    }
  });
}
