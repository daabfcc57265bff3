#include "training/checkpoints/run_checkpoints.h"

#include <set>

#include "base/files/file.h"
#include "training/checkpoints/resumption.h"

namespace nmt {
namespace {

std::set<int64_t> best_updates(const ProgressState& progress) {
  std::set<int64_t> best;
  for (const auto& validation : progress.best_validations) best.insert(validation.update);
  return best;
}

std::string text_of(const ProgressState& progress) { return progress.to_json().dump(2) + "\n"; }

}  // namespace

int64_t RunCheckpoints::keep(const ProgressState& progress) const {
  return parts_.keep + (parts_.counts && progress.extra_checkpoint >= 0 ? 1 : 0);
}

void RunCheckpoints::save(const ProgressState& progress, int64_t extra) const {
  const auto write = [&](const std::filesystem::path& folder) {
    parts_.write_model(folder, {{"update", progress.update}});
    save_safetensors(folder / kTrainerState, parts_.trainer_state());
    write_file_atomically(folder / kProgressFile, text_of(progress));
  };
  const auto best = best_updates(progress);
  const bool goes = parts_.counts && extra >= 0 && extra != progress.update && !best.contains(extra);
  parts_.store.save(progress.update, keep(progress) + (goes ? 1 : 0), write, best);
  if (goes) parts_.store.remove(extra);
}

void RunCheckpoints::save_progress(const ProgressState& progress) const {
  parts_.store.replace_file(progress.update, kProgressFile, text_of(progress), keep(progress), best_updates(progress));
}

}  // namespace nmt
