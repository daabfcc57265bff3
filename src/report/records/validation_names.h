#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "report/records/training_observer.h"

namespace nmt {

/// Which mean of checkpoints `weights` of a ValidationReport are, short enough for the name of a file: "average of
/// updates 7, 28, 49" is "of-3-from-7-to-49". Empty for the moving average and for the weights of an update.
std::string averaged_updates(const std::string& weights);

/// The name of the files of a validation, without extension: "00000100"; of the moving average "00000100-average", of a
/// mean of checkpoints "00000100-average-of-3-from-50-to-100".
std::string validation_stem(const ValidationReport& report);

/// The update that a file of a validation is about, by its name; nullopt for other files.
std::optional<int64_t> update_of_file(const std::filesystem::path& path);

}  // namespace nmt
