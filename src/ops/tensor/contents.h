// Symbolic contents through operators that move elements.
#pragma once

#include <initializer_list>

#include "ops/infer.h"

namespace cameo::ops {

// Output 0 holds the elements of input `data` in the same order: reshapes of every kind.
void keep_contents(Infer& c, size_t data = 0);

// The outputs hold elements of the inputs `data`, moved, or zeros. Where elements go is found by running the operator's
// own kernel on the elements' numbers. Does nothing unless the shapes and all other inputs are known and the contents
// are symbolic: what is a plain tensor the driver folds. Precondition: the outputs' types are set.
void move_contents(Infer& c, std::initializer_list<size_t> data = {0});

}  // namespace cameo::ops
