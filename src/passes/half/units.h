// What decides between f32 and half precision: a node, a value carried through a Loop, an input, an output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

bool is_f32(const Type& t);  // of a tensor, or of what a sequence or an optional holds
Type with_element(Type t, DType to);

enum class Form : uint8_t { open, half, f32 };

struct Unit {
  struct Read {
    ValueId value;
    Use at;  // where it has to be replaced if it has the other form
  };
  NodeId node;    // none: an input or an output of the model
  ValueId value;  // that input or output
  Form form = Form::open;
  std::string why;     // it is f32
  bool heavy = false;  // multiplies with weights: what half precision is for
  bool fixed = false;  // its operands or results have no half form: nothing else is possible
  std::vector<Read> reads;
  std::vector<ValueId> gives;  // these have the unit's form
};

struct HalfOptions {
  DType to = DType::f16;       // or bf16
  bool keep_io = false;        // inputs and outputs stay f32
  bool products_only = false;  // only what multiplies with weights becomes half, with what lies between
  int64_t opset = 0;           // whose operators take half; 0: the newest
};

// Of all f32 values and what reads and gives them, in order; constants and initializers belong to nobody.
std::vector<Unit> half_units(const Graph& g, const HalfOptions& options);

// Every unit gets a form: fewest bytes are cast, and few units that could be half stay f32. Returns what that costs, in
// bytes cast and computed in f32. `price`: how many times as much casts count.
double place_casts(const Graph& g, std::vector<Unit>& units, double price = 1);
// How many casts the file has with these forms: those that are added, and those that were there and change something.
size_t cast_count(const Graph& g, const std::vector<Unit>& units);
// How many casts there are where only what is fixed stays f32, and operators that engines lack in half precision stand
// between casts of their own: what converters write that judge operator by operator.
size_t usual_casts(const Graph& g, std::vector<Unit> units);

}  // namespace cameo::passes
