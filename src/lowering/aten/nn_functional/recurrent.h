// One step of a recurrent cell, of what its two linear layers make of the input and of the state before.
#pragma once

#include <tuple>

#include "lowering/lower.h"

namespace cameo::lowering {

std::tuple<V, V> lstm_step(Lower& on, V of_input, V of_state, V c);  // the new h and c
V gru_step(Lower& on, V of_input, V of_state, V h);

}  // namespace cameo::lowering
