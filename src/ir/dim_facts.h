// What is known about dims beyond their form: ranges, multiples, equalities, each with its source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cameo/diag.h"
#include "ir/dim.h"

namespace cameo::ir {

enum class Answer : uint8_t { no, yes, unknown };

// A flag, the model's own code, an archive's guard, a requirement of an operator; a convention (default: sizes of
// inputs are at least 1); a guess, because ONNX cannot express both cases.
enum class FactSource : uint8_t { user, program, archive, op, convention, guess };

struct FactOrigin {
  FactSource source = FactSource::op;
  std::string said;  // "--input x", "aten::matmul", "guard"
  Loc where;
};

struct DimFact {
  enum class Kind : uint8_t { range, multiple, equal, not_equal } kind;
  Dim a, b;                            // range and multiple are about `a`; equal and not_equal about both
  std::optional<int64_t> lo, hi;       // range
  int64_t modulus = 1, remainder = 0;  // multiple: a mod modulus == remainder
  FactOrigin origin;
  std::string text() const;  // "batch == 4 (aten::view, net.py:12)"
};

class FactIndex;

// A value: copies share nothing. Questions are answered from bounds, remainders and equalities, quickly and never
// wrongly: what they cannot decide is unknown.
class DimFacts {
 public:
  DimFacts();
  DimFacts(const DimFacts& other);
  DimFacts(DimFacts&& other) noexcept;
  DimFacts& operator=(DimFacts other) noexcept;
  ~DimFacts();
  void swap(DimFacts& other) noexcept;

  // Each returns no when the fact contradicts what is known (it is then not recorded), yes when it was provable
  // already, unknown when it was new and is recorded.
  Answer assume_range(Dim d, std::optional<int64_t> lo, std::optional<int64_t> hi, FactOrigin origin);
  Answer assume_multiple(Dim d, int64_t modulus, int64_t remainder, FactOrigin origin);  // modulus > 0
  Answer assume_equal(Dim a, Dim b, FactOrigin origin);
  Answer assume_not_equal(Dim a, Dim b, FactOrigin origin);

  Answer equal(Dim a, Dim b) const;
  Answer less(Dim a, Dim b) const;        // a < b
  Answer less_equal(Dim a, Dim b) const;  // a <= b
  // The same where the answer decides what a model does: an answer that follows only from a convention is unknown. A
  // program that asks whether a size is 0 expects a real answer.
  Answer surely_equal(Dim a, Dim b) const;
  Answer surely_less(Dim a, Dim b) const;
  Answer surely_less_equal(Dim a, Dim b) const;
  Answer divisible(Dim a, int64_t by) const;  // by != 0
  DimRange range(Dim d) const;
  // The simplest form under the recorded equalities and ranges (floor(4*n/2) -> 2*n, max(n, 0) -> n, ...).
  Dim simplify(Dim d) const;

  const std::vector<DimFact>& all() const { return facts_; }
  // Facts may be scoped to a region: rewind drops those recorded since the mark, and all that followed from them.
  size_t mark() const { return facts_.size(); }
  void rewind(size_t mark);

 private:
  template <class Infer>
  Answer record(DimFact fact, const Infer& infer);
  template <class Decide>
  Answer ask(Dim a, Dim b, const Decide& decide) const;
  template <class Question>
  Answer without_conventions(Dim a, Dim b, const Question& question) const;

  std::vector<DimFact> facts_;
  std::vector<size_t> marks_;      // of index_, before each fact
  std::vector<Dim> conventional_;  // symbols that a convention keeps from being 0
  std::unique_ptr<FactIndex> index_;
};

}  // namespace cameo::ir
