#include "convert/ctranslate2/ctranslate2_file.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/files/file.h"
#include "convert/formats/stop.h"

namespace nmt::convert {
namespace {

constexpr uint32_t kBinaryVersion = 6;
enum TypeCode : uint8_t { kF32 = 0, kI8 = 1, kI16 = 2, kF16 = 4, kBF16 = 5 };

class Writer {
 public:
  explicit Writer(const std::filesystem::path& path) : file_(path) {}

  template <typename T>
  void number(T value) {
    file_.write({reinterpret_cast<const char*>(&value), sizeof value});
  }
  void text(const std::string& value) {  // length with the NUL, bytes, NUL
    number(static_cast<uint16_t>(value.size() + 1));
    file_.write({value.c_str(), value.size() + 1});
  }
  template <typename T>
  void variable(const std::string& name, const Shape& shape, TypeCode type, const std::vector<T>& data) {
    text(name);
    number(static_cast<uint8_t>(shape.size()));
    for (const int64_t size : shape) number(static_cast<uint32_t>(size));
    number(static_cast<uint8_t>(type));
    const uint64_t bytes = data.size() * sizeof(T);
    if (bytes > UINT32_MAX) throw Error(name + ": too large for CTranslate2's format (4 GiB); use --quantization int8");
    number(static_cast<uint32_t>(bytes));
    file_.write({reinterpret_cast<const char*>(data.data()), bytes});
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

template <typename Function>
std::vector<uint16_t> convert(const std::vector<float>& values, Function&& function) {
  std::vector<uint16_t> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), function);
  return result;
}

// q = rint(w * 127 / max|row|), and the scale of each row.
void write_int8(Writer& writer, const std::string& name, const Array& array) {
  std::vector<int8_t> quantized(array.values.size());
  std::vector<float> scales(array.rows());
  for (int64_t r = 0; r < array.rows(); ++r) {
    const auto row = array.row(r);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::fabs(value));
    scales[r] = largest > 0 ? 127 / largest : 1;
    for (size_t c = 0; c < row.size(); ++c)
      quantized[r * row.size() + c] = static_cast<int8_t>(std::nearbyint(row[c] * scales[r]));
  }
  writer.variable(name, array.shape, kI8, quantized);
  writer.variable(name + "_scale", {array.rows()}, kF32, scales);
}

}  // namespace

CTranslate2Type parse_ctranslate2_type(const std::string& name) {
  if (name == "float32") return CTranslate2Type::kFloat32;
  if (name == "int8" || name == "int8_float32") return CTranslate2Type::kInt8;
  if (name == "float16") return CTranslate2Type::kFloat16;
  if (name == "bfloat16") return CTranslate2Type::kBfloat16;
  throw Error("--quantization: '" + name + "' is none of float32, int8, int8_float32, float16, bfloat16");
}

void CTranslate2File::write(const std::filesystem::path& path, const std::string& specification,
                            uint32_t revision) const {
  Writer writer(path);
  writer.number(kBinaryVersion);
  writer.text(specification);
  writer.number(revision);
  const bool int8 = type_ == CTranslate2Type::kInt8;
  const auto matrices = std::count_if(variables_.begin(), variables_.end(), [](const auto& v) { return v.is_matrix; });
  writer.number(static_cast<uint32_t>(variables_.size() + (int8 ? matrices : 0)));
  for (const auto& [name, value, is_matrix] : variables_) {
    throw_if_stopped();
    if (const auto* flag = std::get_if<int8_t>(&value)) {
      writer.variable(name, {}, kI8, std::vector{*flag});
    } else if (const auto* whole = std::get_if<int16_t>(&value)) {
      writer.variable(name, {}, kI16, std::vector{*whole});
    } else {
      const auto& array = std::get<Array>(value);
      if (int8 && is_matrix)
        write_int8(writer, name, array);
      else if (type_ == CTranslate2Type::kFloat16)
        writer.variable(name, array.shape, kF16, convert(array.values, to_half));
      else if (type_ == CTranslate2Type::kBfloat16)
        writer.variable(name, array.shape, kBF16, convert(array.values, to_bfloat16));
      else
        writer.variable(name, array.shape, kF32, array.values);
    }
  }
  writer.number(static_cast<uint32_t>(aliases_.size()));
  for (const auto& [alias, name] : aliases_) {
    writer.text(alias);
    writer.text(name);
  }
  writer.commit();
}

}  // namespace nmt::convert
