// nmt-export: models leave for other toolkits and come from them; and what a model is.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/folders/output_folder.h"
#include "base/process/app.h"
#include "base/process/log.h"
#include "base/process/user_files.h"
#include "base/unicode.h"
#include "command_line.h"
#include "convert/formats/array.h"
#include "convert/inspect.h"
#include "convert/marian/marian_export.h"
#include "convert/marian/marian_import.h"
#include "convert/plain/ctranslate2.h"
#include "convert/plain/plain_safetensors.h"
#include "convert/t5/t5_import.h"

namespace nmt {
namespace {

struct Arguments {
  std::string model, adapter, to, from, input, output, inspect, quantization;
  convert::T5Choice t5;
  bool force = false, quiet = false;

  void add_to(CLI::App& app) {
    app.add_option("-m,--model", model, "model directory that leaves")->type_name("DIR");
    app.add_option("--adapter", adapter,
                   "adapter.safetensors of a training with training.lora_rank, added to the weights of -m")
        ->type_name("FILE");
    app.add_option("--to", to,
                   "nmt: a model directory of this toolkit, with smaller weights (--quantization) or an adapter; "
                   "ctranslate2: CTranslate2's own directory; marian: MarianMT of Hugging Face transformers; "
                   "safetensors: weights under the names of torch.nn.Transformer")
        ->type_name("nmt|ctranslate2|marian|safetensors");
    app.add_option("--from", from,
                   "marian: a MarianMT directory of Hugging Face, or Marian's .npz and decoder.yml (OPUS-MT); "
                   "t5: a T5 or mT5 directory of Hugging Face; m2m: an M2M-100 or NLLB directory of Hugging Face")
        ->type_name("marian|t5|m2m");
    app.add_option("-i,--input", input, "what comes in")->type_name("DIR");
    app.add_option("-o,--output", output, "folder to write; must not exist yet")->type_name("DIR");
    app.add_option("--quantization", quantization,
                   "of --to nmt: int8 or bf16; of --to ctranslate2: all but bf16, float32 by default")
        ->type_name("int8|bf16|float32|int8_float32|float16|bfloat16");
    app.add_option("--task", t5.task,
                   "of --from t5: one of task_specific_params in config.json (translation_en_to_de), where there are "
                   "several translations")
        ->type_name("NAME");
    app.add_option("--source-prefix", t5.source_prefix,
                   "of --from t5: text put before each source sentence, instead of that of the task")
        ->type_name("TEXT");
    app.add_flag("--force", force, "replace the output folder if it holds a model");
    app.add_option("--inspect", inspect, "print what a model directory holds and where it can go")->type_name("DIR");
    app.add_flag("-q,--quiet", quiet, "say nothing but what is wrong");
  }

  void check(const CLI::App& app) const {
    const auto refuse = [&app](std::initializer_list<const char*> names, const char* reader) {
      for (const char* name : names)
        if (app.count(name) > 0) throw Error(fmt::format("{}: is for {}", name, reader));
    };
    const int tasks = !to.empty() + !from.empty() + !inspect.empty();
    if (tasks != 1) throw Error("give one of --to FORMAT, --from FORMAT and --inspect DIR; see nmt-export --help");
    if (!to.empty() && to != "nmt" && to != "ctranslate2" && to != "marian" && to != "safetensors")
      throw Error(fmt::format("--to: '{}' is none of nmt, ctranslate2, marian, safetensors", to));
    if (!from.empty() && from != "marian" && from != "t5" && from != "m2m")
      throw Error(fmt::format("--from: '{}' is none of marian, t5, m2m", from));
    if (to.empty()) refuse({"-m", "--adapter"}, "--to");
    if (from.empty()) refuse({"-i"}, "--from");
    if (from != "t5") refuse({"--task", "--source-prefix"}, "--from t5");
    if (to != "nmt" && to != "ctranslate2") refuse({"--quantization"}, "--to nmt and --to ctranslate2");
    if (!inspect.empty()) {
      refuse({"-o", "--force"}, "--to and --from");
      return;
    }
    if (to.empty() ? input.empty() : model.empty())
      throw Error(to.empty() ? "--from needs -i DIR, the folder to read" : "--to needs -m DIR, the model directory");
    if (output.empty()) throw Error("-o: name the folder to write");
    const bool plain = quantization.empty() && !adapter.empty();
    if (to == "nmt" && !plain && quantization != "int8" && quantization != "bf16")
      throw Error(quantization.empty() ? "--to nmt needs --quantization int8 or bf16, or --adapter"
                                       : fmt::format("--quantization: '{}' is none of int8, bf16", quantization));
    if (t5.source_prefix && find_invalid_utf8(*t5.source_prefix)) throw Error("--source-prefix: is not UTF-8");
    if (std::filesystem::exists(output) && !force)
      throw Error(fmt::format("{}: exists already; name another folder, or replace it with --force", output));
  }
};

/// The model that leaves or comes in.
convert::PlainModel read_model(const Arguments& arguments) {
  if (arguments.from == "marian") return convert::read_marian(arguments.input);
  if (arguments.from == "m2m") return convert::read_m2m(arguments.input);
  if (arguments.from == "t5") return convert::read_t5(arguments.input, arguments.t5);
  auto model = convert::read_plain_model(arguments.model);
  if (model.stored != WeightType::kFloat32)
    throw Error(
        fmt::format("{}: its weights are {}, which is for translating only; export the float32 directory that "
                    "it was made of",
                    arguments.model, model.stored.name()));
  if (!arguments.adapter.empty()) convert::add_adapter(model, arguments.model, arguments.adapter);
  return model;
}

/// --force must not destroy what is read: neither the folder itself, by whatever name, nor one that holds it.
void refuse_to_replace_input(const Arguments& arguments) {
  const bool leaves = arguments.from.empty();
  const auto refuse = [&](const std::string& input, const char* reader) {
    if (lies_in(input, arguments.output))
      throw Error(fmt::format("-o {}: holds what {} reads, which would be lost; name another folder", arguments.output,
                              reader));
  };
  refuse(leaves ? arguments.model : arguments.input, leaves ? "-m" : "-i");
  if (!arguments.adapter.empty()) refuse(arguments.adapter, "--adapter");
}

/// --force replaces a model, and nothing else.
void refuse_foreign_folder(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder) || std::filesystem::is_empty(folder)) return;
  const auto name = foreign_entry(folder, convert::names_of_model_files(folder));
  if (name)
    throw Error(fmt::format("{}: holds {}, which nmt-export did not make; name another folder, or move it",
                            folder.string(), *name));
  if (!std::filesystem::exists(folder / "model.bin") && !std::filesystem::exists(folder / "model.safetensors"))
    throw Error(fmt::format("{}: holds no model; name another folder", folder.string()));
}

void export_model(const Arguments& arguments) {
  const auto type = arguments.to == "ctranslate2" && !arguments.quantization.empty()
                        ? convert::parse_ctranslate2_type(arguments.quantization)
                        : convert::parse_ctranslate2_type("float32");
  refuse_to_replace_input(arguments);
  const auto model = read_model(arguments);
  refuse_foreign_folder(arguments.output);
  // Without --force there was nothing at the beginning: whatever is there at the end is another's.
  OutputFolder output(arguments.output, [&](const std::filesystem::path& folder) {
    return arguments.force ? convert::names_of_model_files(folder) : std::vector<std::string>();
  });
  if (arguments.to == "ctranslate2")
    convert::write_ctranslate2(output.path(), model, type);
  else if (arguments.to == "nmt" && !arguments.quantization.empty())
    convert::write_quantized_model(output.path(), model, Choice<WeightType>(arguments.quantization), arguments.model);
  else if (arguments.to == "marian")
    convert::write_marian(output.path(), model);
  else if (arguments.to == "safetensors")
    convert::write_plain_safetensors(output.path(), model);
  else
    convert::write_plain_model(output.path(), model);
  if (arguments.to == "nmt" && arguments.quantization.empty()) convert::copy_lexicon(arguments.model, output.path());
  convert::throw_if_stopped();
  const auto kept = output.commit();
  if (arguments.quiet) return;
  const auto log = make_logger("nmt-export");
  warn_of_kept(kept, *log);
  if (!output.lock_problem().empty())
    log->warn("{}: this file system has no locks ({}): nothing kept others from writing there", arguments.output,
              output.lock_problem());
  for (const auto& warning : model.warnings) log->warn("{}", warning);
  if (arguments.to == "marian")
    if (const auto warning = convert::marian_warning(model.config.decoding); !warning.empty()) log->warn("{}", warning);
  log->info("wrote {}", arguments.output);
}

int run(int argc, char** argv) {
  CLI::App app("Takes models to other toolkits and brings them from there.", "nmt-export");
  app.set_version_flag("--version", program_version("nmt-export"));
  Arguments arguments;
  arguments.add_to(app);
  show_examples(app,
                {"nmt-export --inspect runs/mine/best", "nmt-export -m runs/mine/best --to ctranslate2 -o exported",
                 "nmt-export -m runs/mine/best --to nmt --quantization int8 -o small"});
  if (!parse_command_line(app, argc, argv)) return kDone;
  arguments.check(app);
  if (!arguments.inspect.empty()) {
    const std::string text = convert::describe(convert::read_plain_model(arguments.inspect));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kDone;
  }
  catch_stop_signals();
  try {
    export_model(arguments);
    return kDone;
  } catch (const convert::Stopped&) {
    make_logger("nmt-export")->warn("stopped; nothing was written");
    return stop_exit_code();
  }
}

}  // namespace
}  // namespace nmt

int main(int argc, char** argv) {
  return nmt::run_app("nmt-export", [&] { return nmt::run(argc, argv); });
}
