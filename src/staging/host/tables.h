// Every table of host operators. A new table is one line here, and one in all_host_tables().
#pragma once

#include <array>

#include "staging/machine/machine.h"

namespace cameo::staging {

// What a host function gives (HostFunction).
using Results = std::optional<std::vector<Value>>;
inline Results one(Value v) { return std::vector<Value>{std::move(v)}; }

std::span<const HostRow> host_container_rows();
std::span<const HostRow> host_integer_rows();
std::span<const HostRow> host_list_rows();
std::span<const HostRow> host_math_rows();
std::span<const HostRow> host_number_rows();
std::span<const HostRow> host_quantized_rows();
std::span<const HostRow> host_recurrent_rows();
std::span<const HostRow> host_sequence_rows();
std::span<const HostRow> host_string_rows();
std::span<const HostRow> host_tensor_rows();
std::span<const HostRow> host_text_rows();

inline auto all_host_tables() {
  // Where two take the same arguments, the first is asked: lists with unknown items before known ones.
  return std::array{host_sequence_rows(), host_container_rows(), host_integer_rows(),   host_list_rows(),
                    host_math_rows(),     host_number_rows(),    host_quantized_rows(), host_recurrent_rows(),
                    host_string_rows(),   host_tensor_rows(),    host_text_rows()};
}

}  // namespace cameo::staging
