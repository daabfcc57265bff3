#include "manual/man_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/process/programs.h"
#include "config/option_table.h"
#include "config/value.h"
#include "manual/roff.h"

namespace nmt {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string head(const std::string& name, int section, const ManualEdition& edition) {
  return fmt::format(".TH {} {} {} \"nmt {}\" \"Neural machine translation\"\n", roff_text(upper(name)), section,
                     edition.date, edition.version);
}

std::string heading(std::string_view title) { return fmt::format(".SH {}\n", title); }

/// What a program is called, and below it what it does.
std::string name_section(const std::string& name, std::string_view summary) {
  return heading("NAME") + roff_lines(fmt::format("{} - {}", name, summary));
}

std::string item(const std::string& tag, std::string_view text) {
  const std::string lines = roff_lines(text);
  return ".TP\n" + tag + "\n" + (lines.empty() ? ".br\n" : lines);
}

std::string sentence(std::string text) {
  if (!text.empty() && !text.ends_with('.')) text += '.';
  return text;
}

std::string tag_of(const OptionDescription& option) {
  std::string tag;
  for (const auto& name : option.names) tag += (tag.empty() ? "" : ", ") + roff_bold(name);
  if (!option.value.empty()) tag += " " + roff_italic(option.value);
  return tag;
}

std::string text_of(const OptionDescription& option) {
  std::string text = sentence(option.help);
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  // A value that lists its words has said them.
  if (!option.choices.empty() && option.value.find('|') == std::string::npos)
    add(fmt::format("One of {}.", fmt::join(option.choices, ", ")));
  if (!option.default_value.empty()) add(fmt::format("Default: {}.", option.default_value));
  return text;
}

/// References to other pages, but not to `own`.
std::string see_also(const std::string& own) {
  std::vector<std::pair<std::string, int>> pages{{"nmt", 1}};
  for (const auto& [name, summary] : kPrograms) pages.emplace_back("nmt-" + std::string(name), 1);
  pages.emplace_back("nmt-config", 5);
  std::erase_if(pages, [&](const auto& page) { return page.first == own; });
  std::string text = heading("SEE ALSO");
  for (const auto& [name, section] : pages)
    text += fmt::format(".BR {} ({}){}\n", roff_text(name), section, name == pages.back().first ? "" : " ,");
  return text;
}

std::string exit_status(const ProgramDescription& program) {
  if (!program.exit_status.empty()) return heading("EXIT STATUS") + roff_lines(program.exit_status);
  return heading("EXIT STATUS") + item("0", "Done.") + item("1", "The machine failed: a full disk, no memory.") +
         item("2", "Something has to be changed: an option, a file. The message says what, and where.") +
         item("130, 143", "Stopped by SIGINT or SIGTERM.");
}

std::string examples(const std::string& lines) {
  std::string text = heading("EXAMPLES") + ".nf\n";
  size_t begin = 0;
  while (begin < lines.size()) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string_view line = std::string_view(lines).substr(begin, end - begin);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty() && !line.ends_with(':')) text += roff_text(line) + "\n";
    begin = end + 1;
  }
  return text + ".fi\n";
}

std::string_view summary_of(const std::string& name) {
  for (const auto& program : kPrograms)
    if (name == "nmt-" + std::string(program.name)) return program.summary;
  return "";
}

}  // namespace

std::string man_page(const ProgramDescription& program, const ManualEdition& edition) {
  std::string text = head(program.name, 1, edition) + name_section(program.name, summary_of(program.name));
  text += heading("SYNOPSIS") + roff_bold(program.name) + " " + roff_text(program.usage) + "\n";
  text += heading("DESCRIPTION") + roff_lines(program.description);
  if (!program.arguments.empty()) {
    text += heading("ARGUMENTS");
    for (const auto& [name, help] : program.arguments) text += item(roff_italic(name), sentence(help));
  }
  text += heading("OPTIONS");
  std::string_view group;
  const bool one_group = std::ranges::all_of(
      program.options, [&](const OptionDescription& option) { return option.group == program.options.front().group; });
  for (const auto& option : program.options) {
    if (option.group != group && !one_group) text += fmt::format(".SS {}\n", roff_text(option.group));
    group = option.group;
    text += item(tag_of(option), text_of(option));
  }
  std::string variables;
  for (const auto& [name, help] : program.environment) variables += item(roff_bold(name), sentence(help));
  for (const auto& option : program.options) {
    if (!option.environment.empty())
      variables += item(roff_bold(option.environment), fmt::format("As {}.", option.names.back()));
  }
  if (!variables.empty()) text += heading("ENVIRONMENT") + variables;
  text += exit_status(program);
  if (!program.examples.empty()) text += examples(program.examples);
  return text + see_also(program.name);
}

std::string front_door_page(const ManualEdition& edition) {
  std::string text = head("nmt", 1, edition) + name_section("nmt", kFrontDoorSummary);
  text += heading("SYNOPSIS") + roff_bold("nmt") + " " + roff_italic("COMMAND") + " " + roff_text("[OPTIONS]") + "\n";
  text +=
      heading("DESCRIPTION") +
      roff_lines(
          "nmt COMMAND runs the program nmt-COMMAND that stands in the same folder as nmt itself, with the options "
          "that "
          "follow. It becomes that program: signals, exit status and standard streams are the program's own. PATH is "
          "not searched.");
  text += heading("COMMANDS");
  for (const auto& [name, summary] : kPrograms)
    text += item(roff_bold(name), fmt::format("{}; see nmt-{}(1).", summary, name));
  text += item(roff_bold("help") + " " + roff_text("[") + roff_italic("COMMAND") + roff_text("]"),
               "The commands, or the options of one.");
  text += heading("OPTIONS") + item(roff_bold("--version"), "The version of the toolkit.");
  text += heading("EXIT STATUS") +
          roff_lines("That of the program; 2 where the command is unknown, 1 where the program cannot be started.");
  text +=
      examples("nmt prepro -c mine.yaml\nnmt train -c mine.yaml\nnmt translate -m runs/mine/best < new.de > new.en\n");
  return text + see_also("nmt");
}

std::string configuration_page(const ManualEdition& edition) {
  std::string text = head("nmt-config", 5, edition) + name_section("nmt-config", "configuration of nmt, in YAML");
  text +=
      heading("DESCRIPTION") +
      roff_lines(
          "nmt-prepro, nmt-train and nmt-eval read one file of sections. An option stands below its section; on the "
          "command line it is written --set section.name=value, a list is [a, b]. What is left out has its default. "
          "--print-config prints every option with its value. A name that is not known is an error. An option that "
          "is marked so may have another value when a run goes on than before.");
  const Config defaults;
  for (const Section& section : sections()) {
    text += heading(upper(std::string(section.name))) + roff_lines(sentence(std::string(section.help)));
    for (const Option& option : options()) {
      if (option.section != section.name) continue;
      std::string facts = fmt::format("({}; default {}", type_name(option), format_value(option, defaults));
      if (const std::string limits = describe_limits(option); !limits.empty()) facts += "; " + limits;
      if (option.on_resume == OnResume::kMayChange) facts += "; may change when a run goes on";
      text += item(roff_bold(option.key()), fmt::format("{} {})", sentence(std::string(option.help)), facts));
    }
  }
  return text + see_also("nmt-config");
}

}  // namespace nmt
