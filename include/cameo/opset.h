// The opsets of ai.onnx that Cameo knows.
#pragma once

namespace cameo::opsets {

inline constexpr int oldest = 7;     // that models are written in
inline constexpr int standard = 18;  // what exports and built models are written in by default
inline constexpr int newest = 27;    // the newest released
inline constexpr int in_development = 28;

}  // namespace cameo::opsets
