#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "log.h"
#include "nmt/tokenizer.h"
#include "nmt/translator.h"
#include "options.h"
#include "results.h"
#include "values.h"
#include "work.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace nmt::python {

namespace {

Translator make_translator(const std::vector<std::string>& models, const std::vector<double>& weights,
                           const std::string& device, const std::string& precision, int threads,
                           std::optional<std::int64_t> max_source_length, const std::vector<std::string>& settings) {
  TranslatorOptions options;
  options.models = models;
  options.weights = weights;
  options.device = device;
  options.threads = threads;
  options.max_source_length = max_source_length;
  set_options(options.decoding, settings);
  if (!precision.empty()) options.decoding.precision = precision;
  return Work().run([&] { return Translator(options); });
}

nb::list translate(const Translator& translator, const nb::list& texts, const nb::dict& wanted, std::size_t first) {
  const std::vector<Request> requests = requests_of(texts, first);
  TranslateOptions options = translate_options(wanted);
  Work work;
  options.stop = work.stop();
  return translation_objects(work.run([&] { return translator.translate_requests(requests, options); }));
}

nb::object translate_file(const Translator& translator, const std::string& input, const std::string& output,
                          const nb::dict& wanted) {
  TranslateOptions options = translate_options(wanted);
  Work work;
  options.stop = work.stop();
  const LogSink log = log_to_python(work);
  return statistics_object(work.run([&] { return translator.translate_file(input, output, options, log); }));
}

nb::bytes translate_document(const Translator& translator, const nb::bytes& document, const std::string& format,
                             const nb::dict& wanted) {
  const std::string_view bytes(document.c_str(), document.size());
  TranslateOptions options = translate_options(wanted);
  Work work;
  options.stop = work.stop();
  const std::string translated = work.run([&] { return translator.translate_document(bytes, format, options); });
  return nb::bytes(translated.data(), translated.size());
}

nb::list score(const Translator& translator, const nb::object& sources, const nb::object& targets,
               const nb::dict& wanted) {
  const std::vector<std::string> source_texts = texts_of(sources, "sources");
  const std::vector<std::string> target_texts = texts_of(targets, "targets");
  TranslateOptions options = translate_options(wanted);
  Work work;
  options.stop = work.stop();
  return alternative_objects(work.run([&] { return translator.score(source_texts, target_texts, options); }));
}

Side side_of(const std::string& name) {
  if (name != "source" && name != "target") throw nb::value_error("side: source or target is expected");
  return name == "source" ? Side::kSource : Side::kTarget;
}

void bind_tokenizer(nb::module_& module) {
  nb::class_<Tokenizer>(module, "Tokenizer")
      .def(nb::init<const std::string&>(), "directory"_a)
      .def("encode", [](const Tokenizer& tokenizer, const nb::str& text,
                        const std::string& side) { return tokenizer.encode(text_of(text, "text"), side_of(side)); })
      .def("encode_pieces",
           [](const Tokenizer& tokenizer, const nb::str& text, const std::string& side) {
             return tokenizer.encode_pieces(text_of(text, "text"), side_of(side));
           })
      .def("decode", [](const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                        const std::string& side) { return tokenizer.decode(ids, side_of(side)); })
      .def("decode_pieces", [](const Tokenizer& tokenizer, const std::vector<std::string>& pieces,
                               const std::string& side) { return tokenizer.decode_pieces(pieces, side_of(side)); })
      .def("size", [](const Tokenizer& tokenizer, const std::string& side) { return tokenizer.size(side_of(side)); })
      .def("is_joint", &Tokenizer::is_joint)
      .def("language",
           [](const Tokenizer& tokenizer, const std::string& side) { return tokenizer.language(side_of(side)); });
}

}  // namespace

void bind_translator(nb::module_& module) {
  nb::class_<Glossary>(module, "Glossary")
      .def_static("parse",
                  [](const nb::bytes& lines, const std::string& name) {
                    return Glossary::parse(std::string_view(lines.c_str(), lines.size()), name);
                  })
      .def("size", &Glossary::size);
  nb::class_<Translator>(module, "Translator")
      .def_static("load", &make_translator, "models"_a, "weights"_a, "device"_a, "precision"_a, "threads"_a,
                  "max_source_length"_a.none(), "settings"_a)
      .def("translate", &translate, "texts"_a, "options"_a, "first"_a)
      .def("translate_file", &translate_file)
      .def("translate_document", &translate_document)
      .def("score", &score)
      .def("models", [](const Translator& translator) { return information_objects(translator.models()); })
      .def("has_attention", [](const Translator& translator) {
        return Work().run([&] { return translator.has_attention(); });  // it waits for the turn of a GPU
      });
  bind_tokenizer(module);
}

}  // namespace nmt::python
