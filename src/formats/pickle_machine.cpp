#include "formats/pickle_machine.h"

#include <algorithm>
#include <utility>

#include "support/budget.h"
#include "support/endian.h"

namespace cameo::pickle {

Machine::Machine(Bytes bytes, const std::string& name, const Limits& limits, Arena& arena)
    : bytes_(std::move(bytes)), text_(bytes_.text()), name_(name), limits_(limits), arena_(arena) {
  none_ = arena_.make<Value>();
  true_ = arena_.make<Value>();
  false_ = arena_.make<Value>();
  true_->kind = false_->kind = Kind::boolean;
  true_->boolean = true;
  false_->boolean = false;
  none_->sealed = true_->sealed = false_->sealed = true;
}

Loc Machine::place() const { return {.file = name_, .offset = opcode_at_}; }

void Machine::damaged(std::string what) const {
  throw error("file.pickle-damaged", cat("the pickle is damaged: ", what)).at(place());
}

void Machine::too_much(std::string what) const {
  throw error("file.pickle-limit", cat("the pickle is larger than Cameo accepts: ", what)).at(place());
}

std::string_view Machine::take(uint64_t count) {
  if (count > text_.size() - at_) damaged("it ends in the middle of a value");
  const auto out = text_.substr(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return out;
}

std::string_view Machine::take_line() {
  const auto end = text_.find('\n', at_);
  if (end == text_.npos) damaged("it ends in the middle of a name");
  const auto out = text_.substr(at_, end - at_);
  at_ = end + 1;
  return out;
}

uint64_t Machine::little(int bytes) {
  const auto raw = take(static_cast<uint64_t>(bytes));
  uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i) v = v << 8 | static_cast<uint8_t>(raw[static_cast<size_t>(i)]);
  return v;
}

double Machine::big_endian_double() {
  uint64_t v = 0;
  for (const char c : take(8)) v = v << 8 | static_cast<uint8_t>(c);
  return bit_cast<double>(v);
}

Value* Machine::make(Kind kind) {
  checkpoint();
  if (++made_ > limits_.values) too_much("too many values");
  Value* v = arena_.make<Value>();
  v->kind = kind;
  return v;
}

void Machine::push(Value* v) {
  if (stack_.size() >= limits_.values) too_much("too many values on the stack");
  stack_.push_back(v);
}

Value* Machine::pop() {
  Value* v = top();
  stack_.pop_back();
  return v;
}

Value* Machine::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) damaged("the stack is empty");
  return stack_.back();
}

void Machine::push_mark() {
  if (marks_.size() >= limits_.values) too_much("too many marks");
  marks_.push_back(stack_.size());
}

size_t Machine::pop_mark() {
  if (marks_.empty()) damaged("a mark is missing");
  const size_t at = marks_.back();
  marks_.pop_back();
  return at;
}

void Machine::push_integer(int64_t v) {
  // Small numbers are most of a debug table; one value serves all their uses.
  const bool small = v >= 0 && v < 256;
  if (small && small_integers_.empty()) small_integers_.resize(256);
  if (small && small_integers_[static_cast<size_t>(v)]) return push(small_integers_[static_cast<size_t>(v)]);
  Value* made = make(Kind::integer);
  made->integer = v;
  if (small) small_integers_[static_cast<size_t>(v)] = made;
  push(made);
}

void Machine::push_long(std::string_view raw) {
  if (raw.size() > 8) return push_text(Kind::big_integer, raw);
  uint64_t v = !raw.empty() && (raw.back() & 0x80) ? ~uint64_t{0} : 0;
  for (size_t i = raw.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(raw[i]);
  push_integer(static_cast<int64_t>(v));
}

void Machine::push_text(Kind kind, std::string_view text) {
  Value* v = make(kind);
  v->text = text;
  push(v);
}

void Machine::push_global(std::string_view module, std::string_view called) {
  if (module.find('\n') != module.npos || called.find('\n') != called.npos) damaged("a global's name has a line break");
  if (module.data() + module.size() + 1 == called.data() && module.data()[module.size()] == '\n')
    return push_text(Kind::global, {module.data(), module.size() + 1 + called.size()});
  push_text(Kind::global, arena_.copy(std::string_view(cat(module, "\n", called))));
}

void Machine::contain(Value* container, Value* part) {
  part->sealed = true;
  if (part->depth >= limits_.depth) too_much("values nested too deeply");
  if (container->depth <= part->depth) container->depth = static_cast<uint16_t>(part->depth + 1);
}

void Machine::count_items(size_t more) {
  contained_ += more;
  if (contained_ > uint64_t{4} * limits_.values) too_much("too many items");
}

void Machine::push_tuple(size_t from) { push_container(Kind::tuple, from); }

void Machine::push_container(Kind kind, size_t from) {
  if (kind == Kind::dict && (stack_.size() - from) % 2) damaged("a dict's last key has no value");
  Value* v = make(kind);
  count_items(stack_.size() - from);
  for (size_t i = from; i < stack_.size(); ++i) contain(v, stack_[i]);
  v->items = arena_.copy(std::span<const Value* const>(stack_.data() + from, stack_.size() - from));
  v->capacity = static_cast<uint32_t>(v->items.size());
  stack_.resize(from);
  push(v);
}

void Machine::fill(Value* container, size_t from, bool pairs) {
  const size_t count = stack_.size() - from, old = container->items.size();
  if (pairs && count % 2) damaged("a dict's last key has no value");
  const Kind k = container->kind;
  const bool right =
      k == Kind::call || k == Kind::object || (pairs ? k == Kind::dict : k == Kind::list || k == Kind::set);
  if (!right) damaged("items for something that is not a container");
  count_items(count);
  for (size_t i = from; i < stack_.size(); ++i) contain(container, stack_[i]);
  // Only what already is a part of something can become a part of itself.
  if (container->sealed) damaged("a container changes after it was put into another one, or holds itself");
  if (old + count > container->capacity) {
    const size_t room = std::max(old + count, old * 2);
    auto** grown = static_cast<const Value**>(arena_.raw(room * sizeof(void*), alignof(void*)));
    std::copy_n(container->items.begin(), old, grown);
    container->items = {grown, old};
    container->capacity = static_cast<uint32_t>(room);
  }
  auto** to = const_cast<const Value**>(container->items.data());
  for (size_t i = 0; i < count; ++i) to[old + i] = stack_[from + i];
  container->items = {to, old + count};
  stack_.resize(from);
}

void Machine::push_record(Kind kind, Value* callee, Value* args) {
  Value* v = make(kind);
  if (callee) contain(v, callee);
  contain(v, args);
  v->record = arena_.make<Value::Record>(callee, args, nullptr);
  push(v);
}

void Machine::build() {
  Value* state = pop();
  Value* v = top();
  if (v->kind != Kind::object && v->kind != Kind::call) damaged("a state for something that is not an object");
  contain(v, state);
  if (v->sealed) damaged("an object changes after it was put into another one, or holds itself");
  if (v->record->state) damaged("an object with two states");
  v->record = arena_.make<Value::Record>(v->record->callee, v->record->args, state);
}

void Machine::put(uint64_t index) {
  // Writers number from 0 upwards, and every number takes at least a byte: larger ones only waste memory.
  if (index > at_ || index >= limits_.values) damaged(cat("memo index ", index));
  if (index >= memo_.size()) memo_.resize(static_cast<size_t>(index) + 1);
  memo_[static_cast<size_t>(index)] = top();
}

void Machine::get(uint64_t index) {
  if (index >= memo_.size() || !memo_[static_cast<size_t>(index)]) damaged(cat("memo index ", index, " was never set"));
  push(memo_[static_cast<size_t>(index)]);
}

}  // namespace cameo::pickle
