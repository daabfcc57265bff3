#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "nmt/trainer.h"
#include "nmt/translator.h"

namespace nmt::python {

// Results as objects of nmt/_results.py and nmt/_training.py. Arrays are not copied: they own the memory that the
// library filled.

nanobind::list translation_objects(std::vector<Translation>&& translations);
nanobind::list alternative_objects(std::vector<Alternative>&& alternatives);
nanobind::object statistics_object(const FileStatistics& statistics);
nanobind::list information_objects(const std::vector<ModelInformation>& models);

nanobind::object start_object(const TrainingStart& start);
nanobind::object update_object(const UpdateFigures& figures);
nanobind::object interval_object(const IntervalFigures& figures);
nanobind::object epoch_object(const EpochFigures& figures);
nanobind::object validation_object(const ValidationFigures& figures);
nanobind::object training_object(const TrainingResult& result);
nanobind::object prepared_object(const PrepareResult& result);

}  // namespace nmt::python
