#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "convert/formats/array.h"
#include "convert/plain/plain_model.h"

namespace nmt::convert {

/// How CTranslate2 keeps weights: int8 (matrices, a scale a row, the rest float32), or everything in one float type.
enum class CTranslate2Type { kFloat32, kInt8, kFloat16, kBfloat16 };
CTranslate2Type parse_ctranslate2_type(const std::string& name);  ///< throws Error naming the choices

/// CTranslate2's model.bin, version 6 of the format: variables under their names, and aliases of them.
class CTranslate2File {
 public:
  explicit CTranslate2File(CTranslate2Type type) : type_(type) {}

  void add_flag(const std::string& name, int8_t value) { variables_.push_back({name, value}); }
  void add_number(const std::string& name, int16_t value) { variables_.push_back({name, value}); }
  void add_vector(const std::string& name, Array array) { variables_.push_back({name, std::move(array)}); }
  /// A weight [out, in], which int8 files have as whole numbers.
  void add_matrix(const std::string& name, Array array) { variables_.push_back({name, std::move(array), true}); }
  void add_alias(const std::string& alias, const std::string& name) { aliases_.emplace_back(alias, name); }

  /// Throws MachineError, Stopped.
  void write(const std::filesystem::path& path, const std::string& specification, uint32_t revision) const;

 private:
  struct Variable {
    std::string name;
    std::variant<int8_t, int16_t, Array> value;
    bool is_matrix = false;
  };
  CTranslate2Type type_;
  std::vector<Variable> variables_;
  std::vector<std::pair<std::string, std::string>> aliases_;
};

/// Why a model cannot go to CTranslate2 ("model.positions: rotary"), or nothing where it can.
std::string ctranslate2_obstacle(const PlainModel& model);

/// CTranslate2's native directory: model.bin, config.json, vocabularies, and the SentencePiece models for the caller.
/// The folder exists. Throws Error naming the obstacle, a weight that is not the model's or not finite, and in float16
/// one that is too large for it.
void write_ctranslate2(const std::filesystem::path& directory, const PlainModel& model, CTranslate2Type type);

}  // namespace nmt::convert
