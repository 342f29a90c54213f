// The names that this layer sees, as support/layers.h has them for the others.
#pragma once

#include "support/layers.h"

namespace cameo::quant {
using namespace engine;
}
