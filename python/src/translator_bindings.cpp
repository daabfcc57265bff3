#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "call.h"
#include "nmt/tokenizer.h"
#include "nmt/translator.h"
#include "results.h"
#include "text_caster.h"

namespace nb = nanobind;
using nb::literals::operator""_a;
using Released = nb::call_guard<nb::gil_scoped_release>;

namespace nmt::python {

namespace {

/// settings: "beam_size=8" and the like, of the section `decoding`.
void set_options(DecodingOptions& options, const std::vector<std::string>& settings) {
  for (const auto& setting : settings) {
    const std::size_t sign = setting.find('=');
    set_option(options, setting.substr(0, sign), setting.substr(sign + 1));
  }
}

Translator make_translator(const std::vector<std::string>& models, const std::vector<double>& weights,
                           const std::string& device, int threads, std::optional<std::int64_t> max_source_length,
                           const std::string& adapter, const std::vector<std::string>& settings) {
  TranslatorOptions options{models, weights, device, threads, max_source_length};
  options.adapter = adapter;
  set_options(options.decoding, settings);
  return Translator(options);
}

nb::list translate(const Translator& translator, const std::vector<Request>& requests, TranslateOptions options) {
  Call call;
  options.stop = call.stop();
  return translation_objects(call.run([&] { return translator.translate_requests(requests, options); }));
}

nb::object translate_file(const Translator& translator, const std::string& input, const std::string& output,
                          TranslateOptions options) {
  Call call;
  options.stop = call.stop();
  return statistics_object(call.run([&] { return translator.translate_file(input, output, options, call.log()); }));
}

nb::bytes translate_document(const Translator& translator, const nb::bytes& document, const std::string& format,
                             TranslateOptions options) {
  Call call;
  options.stop = call.stop();
  const std::string_view bytes(document.c_str(), document.size());
  const std::string translated = call.run([&] { return translator.translate_document(bytes, format, options); });
  return nb::bytes(translated.data(), translated.size());
}

nb::list score(const Translator& translator, const std::vector<std::string>& sources,
               const std::vector<std::string>& targets, TranslateOptions options) {
  Call call;
  options.stop = call.stop();
  return alternative_objects(call.run([&] { return translator.score(sources, targets, options); }));
}

void bind_options(nb::module_& module) {
  nb::class_<Glossary>(module, "Glossary")
      .def_static("parse",
                  [](const nb::bytes& lines, const std::string& name) {
                    return Glossary::parse(std::string_view(lines.c_str(), lines.size()), name);
                  })
      .def("size", &Glossary::size);
  using O = TranslateOptions;
  nb::class_<O>(module, "TranslateOptions")
      .def(nb::init<>())
      .def("set", [](O& options, const std::vector<std::string>& settings) { set_options(options.decoding, settings); })
      .def_rw("n_best", &O::n_best)
      .def_rw("prefix", &O::prefix)
      .def_rw("must", &O::must)
      .def_rw("must_not", &O::must_not)
      .def_rw("glossary", &O::glossary)
      .def_rw("keep_placeholders", &O::keep_placeholders)
      .def_rw("split_sentences", &O::split_sentences)
      .def_rw("copy_unknown", &O::copy_unknown)
      .def_rw("token_scores", &O::token_scores)
      .def_rw("alignment", &O::alignment)
      .def_rw("attention", &O::attention)
      .def_rw("first_line", &O::first_line);
  nb::class_<Request>(module, "Request")
      .def(nb::init<std::string, std::string, std::vector<std::string>, std::vector<std::string>>(), "source"_a,
           "prefix"_a, "must"_a, "must_not"_a);
}

void bind_tokenizer(nb::module_& module) {
  using Text = std::string;  // whose caster takes any str
  nb::enum_<Side>(module, "Side").value("source", Side::kSource).value("target", Side::kTarget);
  nb::class_<Tokenizer>(module, "Tokenizer")
      .def(nb::init<const std::string&>(), "directory"_a)
      .def("encode", [](const Tokenizer& own, const Text& text, Side side) { return own.encode(text, side); })
      .def("encode_pieces",
           [](const Tokenizer& own, const Text& text, Side side) { return own.encode_pieces(text, side); })
      .def("decode", &Tokenizer::decode)
      .def("decode_pieces", &Tokenizer::decode_pieces)
      .def("size", &Tokenizer::size)
      .def("is_joint", &Tokenizer::is_joint)
      .def("language", &Tokenizer::language);
}

}  // namespace

void bind_translator(nb::module_& module) {
  bind_options(module);
  nb::class_<Translator>(module, "Translator")
      .def_static("load", &make_translator, "models"_a, "weights"_a, "device"_a, "threads"_a,
                  "max_source_length"_a.none(), "adapter"_a, "settings"_a, Released())
      .def("translate", &translate)
      .def("translate_file", &translate_file)
      .def("translate_document", &translate_document)
      .def("score", &score)
      .def("models", [](const Translator& translator) { return information_objects(translator.models()); })
      .def("has_attention", &Translator::has_attention, Released());  // it waits for the turn of a GPU
  bind_tokenizer(module);
}

}  // namespace nmt::python
