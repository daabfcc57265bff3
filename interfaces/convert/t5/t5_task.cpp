#include "convert/t5/t5_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace nmt::convert {
namespace {

constexpr const char* kTasks = "task_specific_params";
constexpr std::string_view kTranslation = "translation_", kTo = "_to_";

std::vector<std::string> names_of_tasks(const nlohmann::json& tasks) {
  std::vector<std::string> names;
  for (const auto& [name, settings] : tasks.items())
    if (settings.is_object()) names.push_back(name);
  return names;
}

/// A task by its name, whose languages it has: translation_en_to_de.
T5Task task_of(const HuggingFaceConfig& config, const std::string& name) {
  T5Task task;
  task.settings = {fmt::format("{}: {}.{}", config.path(), kTasks, name), config.json().at(kTasks).at(name)};
  task.prefix = task.settings.text("prefix", "");
  const auto to = name.find(kTo, kTranslation.size());
  if (!name.starts_with(kTranslation) || to == std::string::npos) return task;
  task.source_language = language_code(name.substr(kTranslation.size(), to - kTranslation.size()), "src");
  task.target_language = language_code(name.substr(to + kTo.size()), "tgt");
  return task;
}

T5Task named_task(const HuggingFaceConfig& config, const std::string& name) {
  const auto tasks = config.json().value(kTasks, nlohmann::json::object());
  const auto names = tasks.is_object() ? names_of_tasks(tasks) : std::vector<std::string>();
  if (std::ranges::find(names, name) != names.end()) return task_of(config, name);
  if (names.empty())
    throw Error(
        fmt::format("--task {}: {} names no tasks; leave it out, or give --source-prefix", name, config.path()));
  throw Error(fmt::format("--task {}: {} has no such task; it has {}", name, config.path(), fmt::join(names, ", ")));
}

/// The only translation; no task where there is none.
T5Task only_translation(const HuggingFaceConfig& config) {
  const auto tasks = config.json().value(kTasks, nlohmann::json());
  if (!tasks.is_object()) return {};
  auto names = names_of_tasks(tasks);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with(kTranslation); });
  if (names.size() > 1)
    throw Error(fmt::format("{}: has the translations {}; choose one with --task, or give --source-prefix",
                            config.path(), fmt::join(names, ", ")));
  return names.empty() ? T5Task() : task_of(config, names.front());
}

}  // namespace

T5Task choose_t5_task(const HuggingFaceConfig& config, const T5Choice& choice) {
  T5Task task;
  if (!choice.task.empty())
    task = named_task(config, choice.task);
  else if (!choice.source_prefix)
    task = only_translation(config);
  if (choice.source_prefix) task.prefix = *choice.source_prefix;
  return task;
}

}  // namespace nmt::convert
