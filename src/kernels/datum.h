// A run-time value: a tensor, a sequence, an optional that may be empty, or a map.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ir/tensor.h"

namespace cameo::kernels {

struct Datum {
  enum class Kind : uint8_t { tensor, sequence, none, map };  // none: an empty optional (a full one is its element)
  Kind kind = Kind::none;
  Tensor tensor;
  std::shared_ptr<const std::vector<Datum>> items;                      // of a sequence
  std::shared_ptr<const std::vector<std::pair<Datum, Datum>>> entries;  // of a map, sorted by key; keys are 0-d tensors

  Datum() = default;
  Datum(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}
  static Datum sequence(std::vector<Datum> items) {
    Datum d;
    d.kind = Kind::sequence;
    d.items = std::make_shared<const std::vector<Datum>>(std::move(items));
    return d;
  }
  static Datum map(std::vector<std::pair<Datum, Datum>> entries) {
    Datum d;
    d.kind = Kind::map;
    d.entries = std::make_shared<const std::vector<std::pair<Datum, Datum>>>(std::move(entries));
    return d;
  }
};

}  // namespace cameo::kernels
