#include "convert/formats/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>

#include "base/error.h"

namespace nmt::convert {
namespace {

// What a file may ask for grows with its size: a step takes at most about a hundred bytes of memory, and the 500
// tensors of a large model take 25,000 steps.
constexpr size_t kMostSteps = 60'000, kBytesAStep = 64;
// Arguments and names are copied, and a pickle can ask for the same ones again and again.
constexpr size_t kMostArguments = 16, kLongestName = 100;

/// What stands for data. Storage types are only named, never called.
constexpr std::array kCallable{"collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
                               "torch._utils._rebuild_parameter", "torch.Size"};

bool is_allowed(const std::string& global) {
  if (std::find(kCallable.begin(), kCallable.end(), global) != kCallable.end()) return true;
  return (global.starts_with("torch.") && global.ends_with("Storage") && global.find('.', 6) == std::string::npos) ||
         global == "torch.storage.UntypedStorage";
}

}  // namespace

class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, std::span<const std::byte> bytes, const std::string& name)
      : pickle_(pickle), bytes_(bytes), name_(name) {}

  void run() {
    const size_t most_steps = kMostSteps + bytes_.size() / kBytesAStep;
    for (size_t steps = 0;; ++steps) {
      if (steps == most_steps) throw Error(name_ + ": a pickle of too many steps for weights; it is not used");
      const char opcode = static_cast<char>(take(1)[0]);
      if (opcode == '.') break;
      step(opcode);
    }
    pickle_.value_ = pop();
    pickle_.size_ = at_;
  }

 private:
  using Kind = PickleValue::Kind;

  Error damaged() const { return Error(name_ + ": damaged: not a pickle of weights; fetch the file again"); }

  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size() - at_) throw damaged();
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(uint64_t size) {
    const auto part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::string line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    if (end == rest.end()) throw damaged();
    auto result = text(end - rest.begin());
    take(1);
    return result;
  }

  PickleValue& make(Kind kind) {
    auto& value = pickle_.values_.emplace_back();
    value.kind = kind;
    stack_.push_back(&value);
    return value;
  }
  void make_number(Kind kind, int64_t number) { make(kind).number = number; }
  void make_text(Kind kind, std::string value) { make(kind).text = std::move(value); }

  PickleValue* pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) throw damaged();
    auto* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue& top(Kind kind) {
    if (stack_.empty() || stack_.back()->kind != kind) throw damaged();
    return *stack_.back();
  }
  /// Everything above the last mark.
  std::vector<PickleValue*> pop_to_mark() {
    if (marks_.empty()) throw damaged();
    const size_t mark = marks_.back();
    marks_.pop_back();
    std::vector<PickleValue*> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark);
    return items;
  }
  std::vector<PickleValue*> pop_last(size_t count) {
    std::vector<PickleValue*> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }
  void make_list(const std::vector<PickleValue*>& items, Kind kind = Kind::kList) {
    if (kind == Kind::kDict && items.size() % 2 != 0) throw damaged();
    make(kind).items.assign(items.begin(), items.end());
  }
  void append(const std::vector<PickleValue*>& items, Kind kind) {
    if (kind == Kind::kDict && items.size() % 2 != 0) throw damaged();
    auto& target = top(kind).items;
    target.insert(target.end(), items.begin(), items.end());
  }

  void global(const std::string& module, const std::string& member) {
    if (module.size() + member.size() > kLongestName) throw damaged();
    const std::string full = module + "." + member;
    if (!is_allowed(full))
      throw Error(
          fmt::format("{}: its pickle asks for {}, which is code and not weights; it is not used", name_, full));
    make_text(Kind::kGlobal, full);
  }

  void call() {
    const auto* arguments = pop();
    const auto* function = pop();
    if (function->kind != Kind::kGlobal || arguments->kind != Kind::kList || arguments->items.size() > kMostArguments ||
        function->text.ends_with("Storage"))
      throw damaged();
    if (function->text == "collections.OrderedDict") {
      if (!arguments->items.empty()) throw damaged();
      make(Kind::kDict);
      return;
    }
    auto& result = make(Kind::kCall);
    result.text = function->text;
    result.items = arguments->items;
  }

  // The state of an OrderedDict (PyTorch's _metadata) says nothing about weights.
  void build() {
    pop();
    top(Kind::kDict);
  }

  void remember(int64_t index) {
    if (stack_.empty()) throw damaged();
    memo_[index] = stack_.back();
  }
  void recall(int64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) throw damaged();
    stack_.push_back(found->second);
  }

  int64_t decimal(std::string digits) {
    if (digits.ends_with('L')) digits.pop_back();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) throw damaged();
    return value;
  }

  // Two's complement; more than eight bytes (PyTorch's magic number) keep the lowest ones.
  int64_t long_integer(uint64_t size) {
    const auto part = take(size);
    uint64_t value = !part.empty() && (part.back() & std::byte{0x80}) != std::byte{0} ? ~uint64_t{0} : 0;
    std::memcpy(&value, part.data(), std::min<size_t>(part.size(), sizeof value));
    return static_cast<int64_t>(value);
  }

  double big_endian_real() {
    uint64_t bits = 0;
    for (const std::byte byte : take(8)) bits = bits << 8 | static_cast<uint64_t>(byte);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  void step(char opcode);

  Pickle& pickle_;
  std::span<const std::byte> bytes_;
  const std::string& name_;
  size_t at_ = 0;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::map<int64_t, PickleValue*> memo_;
};

// The letters are those of Python's pickletools.
void PickleMachine::step(char opcode) {
  switch (opcode) {
    case '\x80':  // PROTO
      take(1);
      break;
    case '\x95':  // FRAME
      take(8);
      break;
    case 'N':
      make(Kind::kNone);
      break;
    case '\x88':  // NEWTRUE
    case '\x89':  // NEWFALSE
      make_number(Kind::kBool, opcode == '\x88');
      break;
    case 'I':
      make_number(Kind::kInt, decimal(line()));
      break;
    case 'L':
      make_number(Kind::kInt, decimal(line()));
      break;
    case 'J':  // BININT
      make_number(Kind::kInt, number<int32_t>());
      break;
    case 'K':  // BININT1
      make_number(Kind::kInt, number<uint8_t>());
      break;
    case 'M':  // BININT2
      make_number(Kind::kInt, number<uint16_t>());
      break;
    case '\x8a':  // LONG1
      make_number(Kind::kInt, long_integer(number<uint8_t>()));
      break;
    case '\x8b':  // LONG4
      make_number(Kind::kInt, long_integer(number<uint32_t>()));
      break;
    case 'G':  // BINFLOAT
      make(Kind::kFloat).real = big_endian_real();
      break;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
      make_text(Kind::kText, text(number<uint32_t>()));
      break;
    case '\x8c':  // SHORT_BINUNICODE
    case 'U':     // SHORT_BINSTRING
    case 'C':     // SHORT_BINBYTES
      make_text(Kind::kText, text(number<uint8_t>()));
      break;
    case '(':
      marks_.push_back(stack_.size());
      break;
    case ']':
    case ')':
      make(Kind::kList);
      break;
    case '}':
      make(Kind::kDict);
      break;
    case 'l':
    case 't':
      make_list(pop_to_mark());
      break;
    case 'd':
      make_list(pop_to_mark(), Kind::kDict);
      break;
    case '\x85':  // TUPLE1
    case '\x86':  // TUPLE2
    case '\x87':  // TUPLE3
      make_list(pop_last(static_cast<unsigned char>(opcode) - 0x84));
      break;
    case 'a':
      append(pop_last(1), Kind::kList);
      break;
    case 'e':
      append(pop_to_mark(), Kind::kList);
      break;
    case 's':
      append(pop_last(2), Kind::kDict);
      break;
    case 'u':
      append(pop_to_mark(), Kind::kDict);
      break;
    case 'p':
      remember(decimal(line()));
      break;
    case 'q':  // BINPUT
      remember(number<uint8_t>());
      break;
    case 'r':  // LONG_BINPUT
      remember(number<uint32_t>());
      break;
    case '\x94':  // MEMOIZE
      remember(std::ssize(memo_));
      break;
    case 'g':
      recall(decimal(line()));
      break;
    case 'h':  // BINGET
      recall(number<uint8_t>());
      break;
    case 'j':  // LONG_BINGET
      recall(number<uint32_t>());
      break;
    case 'c': {
      const auto module = line();
      global(module, line());
      break;
    }
    case '\x93': {  // STACK_GLOBAL
      const auto names = pop_last(2);
      global(names[0]->text, names[1]->text);
      break;
    }
    case 'R':
      call();
      break;
    case 'b':
      build();
      break;
    case 'Q': {  // BINPERSID
      const auto* id = pop();
      if (id->items.size() > kMostArguments) throw damaged();
      make(Kind::kPersistent).items = id->items;
      break;
    }
    case '0':
      pop();
      break;
    default:
      throw Error(fmt::format("{}: a pickle with the instruction 0x{:02x}, which weights do not need; it is not used",
                              name_, static_cast<unsigned char>(opcode)));
  }
}

Pickle::Pickle(std::span<const std::byte> bytes, const std::string& name) { PickleMachine(*this, bytes, name).run(); }

}  // namespace nmt::convert
