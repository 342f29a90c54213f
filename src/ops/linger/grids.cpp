#include "ops/linger/grids.h"

#include <algorithm>

namespace cameo::ops::linger {

namespace {

AttrValue attribute_of(const Node& n, std::string_view name) {
  for (const AttrField& f : n.op->fields)
    if (f.name == name) return n.attrs ? f.get(n.attrs.get()) : f.get(n.op->defaults().get());
  return {};
}

std::optional<Quantised> grid(const Node& n, std::string_view scale, std::string_view bits) {
  const auto s = number_of(n, scale), b = number_of(n, bits);
  if (!s || !b) return std::nullopt;
  return Quantised{{*s, static_cast<int64_t>(*b)}, rounding_of(text_of(n, "quant_mode"))};
}

std::optional<Quantised> weight(const Node& n, std::string_view scale) {
  auto out = grid(n, scale, "w_bits");
  if (out) out->how = Rounding::even;
  return out;
}

std::optional<Quantised> bias(double steps) { return Quantised{{steps, 32}, Rounding::even}; }

std::optional<Quantised> recurrent_operand(const Node& n, size_t i) {
  const size_t states = (number_of(n, "has_hidden").value_or(0) != 0) + (number_of(n, "has_cell").value_or(0) != 0);
  if (i == 0) return grid(n, "scale_x", "x_bits");
  if (i <= states) return std::nullopt;
  const std::string_view scales[] = {"scale_iw", "scale_hw"};
  const size_t place = i - 1 - states;
  if (place < 2) return weight(n, scales[place]);
  return bias(*number_of(n, place == 2 ? "scale_x" : "scale_h") * *number_of(n, scales[place == 2 ? 0 : 1]));
}

std::optional<Quantised> linear_operand(const Node& n, size_t i) {
  if (i == 0) return grid(n, "scale_x", "x_bits");
  if (i == 1) return weight(n, "scale_w");
  const bool is_norm = n.op->name == "QLayerNorm";
  const double normal = number_of(n, "scale_y_normal").value_or(32768);
  return bias((is_norm ? normal : *number_of(n, "scale_x")) * *number_of(n, "scale_w"));
}

constexpr Passing table[] = {
    {"Identity"}, {"Reshape"}, {"Transpose"}, {"Squeeze"}, {"Unsqueeze"},
    {"Flatten"},  {"Slice"},   {"Pad", 2},    {"Gather"},  {"Expand"},
    {"Tile"},     {"Split"},   {"Relu"},      {"Clip", 1}, {"MaxPool", SIZE_MAX, 1},
};

}  // namespace

bool is_linger(const Node& n) { return !n.dead && n.op && n.op->domain == domain && !n.op->is_opaque(); }

bool has_linger(const Graph& g) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (!g[NodeId(i)].dead && g[NodeId(i)].op->domain == domain) return true;
  return false;
}

std::optional<double> number_of(const Node& n, std::string_view name) {
  const AttrValue v = attribute_of(n, name);
  if (const auto* f = std::get_if<float>(&v)) return static_cast<double>(*f);
  if (const auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  return std::nullopt;
}

std::optional<std::string> text_of(const Node& n, std::string_view name) {
  const AttrValue v = attribute_of(n, name);
  const auto* s = std::get_if<std::string>(&v);
  return s ? std::optional(*s) : std::nullopt;
}

std::optional<Quantised> operand_grid(const Node& n, size_t i) {
  const std::string_view op = n.op->name;
  if (op == "Quant" || op == "Dequant" || op == "Squeeze") return std::nullopt;
  if (op == "QLSTM" || op == "QGRU") return recurrent_operand(n, i);
  if (op == "Gather") return i == 0 ? weight(n, "scale_w") : std::nullopt;
  if (op == "QCat") {
    const auto own = grid(n, cat("scale_x_", i), cat("x_", i, "_bits"));
    return own ? own : grid(n, "scale_o", "o_bits");
  }
  if (number_of(n, "scale_w")) return linear_operand(n, i);
  return i == 0 ? grid(n, "scale_x", "x_bits") : grid(n, "scale_y", "y_bits");
}

std::optional<Quantised> result_grid(const Node& n, size_t i) {
  const std::string_view op = n.op->name;
  if (op == "Quant") return grid(n, "scale_x", "data_bits");
  if (op == "Gather") return weight(n, "scale_w");
  if (i > 0) return std::nullopt;  // states
  return grid(n, "scale_o", "o_bits");
}

const Passing* passing(const Node& n) {
  const auto fits = [&](const Passing& p) {
    return n.is(p.op) || (is_linger(n) && n.op->name == p.op && p.op == "Squeeze");
  };
  const auto it = std::find_if(std::begin(table), std::end(table), fits);
  return it == std::end(table) ? nullptr : it;
}

}  // namespace cameo::ops::linger
