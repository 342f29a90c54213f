#include "formats/pickle.h"

#include "formats/pickle_machine.h"

namespace cameo::pickle {

namespace {
std::string hex(uint8_t byte) {
  static constexpr char digits[] = "0123456789ABCDEF";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}
}  // namespace

const Value* Machine::run() {
  if (text_.size() > limits_.bytes) too_much(cat("a pickle of ", text_.size(), " bytes"));
  while (!stopped_) {
    opcode_at_ = at_;
    const auto op = static_cast<uint8_t>(take(1)[0]);
    if (control(op) || scalars(op) || texts(op) || containers(op) || records(op)) continue;
    throw error("file.pickle-opcode", cat("the pickle has an instruction that Cameo does not support: ", hex(op)))
        .at(place())
        .why("model files need a small part of Python's pickle language; the rest can import and run code")
        .help("save the model again with torch.jit.save or torch.export.save");
  }
  return stack_.back();
}

bool Machine::control(uint8_t op) {
  switch (op) {
    case 0x80:  // PROTO
      if (const auto version = little(1); version < 2 || version > 5) damaged(cat("pickle protocol ", version));
      return true;
    case 0x95: little(8); return true;  // FRAME: only a hint
    case '.':
      if (stack_.size() != 1 || !marks_.empty()) damaged("the pickle ends with other than one value");
      stopped_ = true;
      return true;
    case '(': push_mark(); return true;
    case '0': pop(); return true;
    case '1': stack_.resize(pop_mark()); return true;
    case '2': push(top()); return true;
    case 'q': put(little(1)); return true;
    case 'r': put(little(4)); return true;
    case 0x94: put(memo_.size()); return true;  // MEMOIZE
    case 'h': get(little(1)); return true;
    case 'j': get(little(4)); return true;
    default: return false;
  }
}

bool Machine::scalars(uint8_t op) {
  switch (op) {
    case 'N': push(none_); return true;
    case 0x88: push(true_); return true;
    case 0x89: push(false_); return true;
    case 'K': push_integer(static_cast<int64_t>(little(1))); return true;
    case 'M': push_integer(static_cast<int64_t>(little(2))); return true;
    case 'J': push_integer(static_cast<int32_t>(static_cast<uint32_t>(little(4)))); return true;
    case 0x8A: push_long(take(little(1))); return true;
    case 0x8B: push_long(take(little(4))); return true;
    case 'G': {
      Value* v = make(Kind::floating);
      v->floating = big_endian_double();
      push(v);
      return true;
    }
    default: return false;
  }
}

bool Machine::texts(uint8_t op) {
  switch (op) {
    case 'X': push_text(Kind::string, take(little(4))); return true;
    case 0x8C: push_text(Kind::string, take(little(1))); return true;
    case 0x8D: push_text(Kind::string, take(little(8))); return true;
    case 'U': push_text(Kind::string, take(little(1))); return true;  // Python 2's str
    case 'T': push_text(Kind::string, take(little(4))); return true;
    case 'C': push_text(Kind::bytes, take(little(1))); return true;
    case 'B': push_text(Kind::bytes, take(little(4))); return true;
    case 0x8E: push_text(Kind::bytes, take(little(8))); return true;
    case 0x96: push_text(Kind::bytes, take(little(8))); return true;
    case 'c': {
      const auto module = take_line();
      push_global(module, take_line());
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const Value* called = pop();
      const Value* module = pop();
      if (called->kind != Kind::string || module->kind != Kind::string) damaged("a global's name is not a string");
      push_global(module->text, called->text);
      return true;
    }
    default: return false;
  }
}

bool Machine::containers(uint8_t op) {
  switch (op) {
    case ')': push_tuple(stack_.size()); return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      const size_t count = op - 0x84u, floor = marks_.empty() ? 0 : marks_.back();
      if (stack_.size() - floor < count) damaged("the stack has too few values");
      push_tuple(stack_.size() - count);
      return true;
    }
    case 't': push_tuple(pop_mark()); return true;
    case ']': push(make(Kind::list)); return true;
    case '}': push(make(Kind::dict)); return true;
    case 0x8F: push(make(Kind::set)); return true;
    case 'l': push_container(Kind::list, pop_mark()); return true;
    case 'd': push_container(Kind::dict, pop_mark()); return true;
    case 0x91: push_container(Kind::set, pop_mark()); return true;  // FROZENSET
    case 'a':
    case 's': {
      const size_t count = op == 'a' ? 1 : 2, floor = marks_.empty() ? 0 : marks_.back();
      if (stack_.size() - floor < count + 1) damaged("the stack has too few values");
      fill(stack_[stack_.size() - count - 1], stack_.size() - count, op == 's');
      return true;
    }
    case 'e':
    case 'u':
    case 0x90: {
      const size_t from = pop_mark();
      if (from == 0) damaged("nothing to put items into");
      fill(stack_[from - 1], from, op == 'u');
      return true;
    }
    default: return false;
  }
}

bool Machine::records(uint8_t op) {
  switch (op) {
    case 'Q': push_record(Kind::persistent, nullptr, pop()); return true;
    case 0x81:
    case 'R': {
      Value* args = pop();
      push_record(op == 'R' ? Kind::call : Kind::object, pop(), args);
      return true;
    }
    case 0x92: {  // NEWOBJ_EX: the keyword arguments are kept as a last argument
      Value* keywords = pop();
      Value* args = pop();
      Value* callee = pop();
      push(args);
      push(keywords);
      push_tuple(stack_.size() - 2);
      push_record(Kind::object, callee, pop());
      return true;
    }
    case 'b': build(); return true;
    default: return false;
  }
}

Document read(Bytes bytes, const std::string& name, const Limits& limits) {
  auto arena = std::make_shared<Arena>();
  Machine machine(bytes, name, limits, *arena);
  Document d;
  d.root_ = machine.run();
  d.consumed_ = machine.position();
  d.storage_ = std::move(arena);
  d.bytes_ = std::move(bytes);
  return d;
}

}  // namespace cameo::pickle
