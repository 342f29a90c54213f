#include "api/pt2_types.h"

#include "frontends/pt2/symbols.h"
#include "ir/type.h"
#include "lowering/arg.h"
#include "support/text.h"

#include "api/archive_info.h"

namespace cameo::api {

namespace {

std::string dtype_text(json::Value v) {
  const auto torch = pt2::dtype_of(v.integer());
  if (!torch) return cat("dtype ", v.integer());
  const auto dtype = dtype_from_torch(static_cast<int64_t>(*torch));
  return std::string(dtype ? name(*dtype) : name(*torch));
}

std::string size_text(const pt2::SymInt& v, DimContext& dims) {
  if (v.literal) return cat(*v.literal);
  const auto d = pt2::dim_of(v.expression, [&](std::string_view symbol) { return std::optional(dims.symbol(symbol)); });
  return d ? d->text() : std::string(v.expression);
}

template <class F>
std::string list(json::Value v, F each) {
  std::string out;
  for (const json::Value part : v.elements()) out += cat(out.empty() ? "" : ", ", each(part));
  return cat("[", out, "]");
}

std::string atom(json::Value v) {
  switch (v.kind()) {
    case json::Kind::null: return "None";
    case json::Kind::boolean: return v.boolean() ? "True" : "False";
    case json::Kind::integer: return cat(v.integer());
    case json::Kind::number: return cat(v.number());
    case json::Kind::string: return std::string(v.text());
    default: return "...";
  }
}

std::string named(json::Value v) {
  if (!v.is_object()) return atom(v);
  if (const json::Value name = v.present("name")) return atom(name);
  return atom(pt2::tagged(v).value);
}

// One line, whatever the names in it hold.
void print_line(std::string& out, const std::string& indent, std::string_view text) {
  out += cat(indent, printable(text), "\n");
}

void print_graph(json::Value graph, const std::string& indent, std::string& out, int depth) {
  for (const json::Value n : graph["nodes"].elements()) {
    std::string results, args;
    for (const json::Value o : n["outputs"].elements()) {
      const std::string value = pt2_argument(o), type = pt2_type(graph, value);
      results += cat(results.empty() ? "" : ", ", value, type.empty() ? "" : cat(": ", type));
    }
    for (const json::Value in : n["inputs"].elements()) {
      const auto key = in["name"].text();
      args += cat(args.empty() ? "" : ", ", key.empty() ? "" : cat(key, "="), pt2_argument(in["arg"]));
    }
    print_line(out, indent, cat(results, results.empty() ? "" : " = ", n["target"].text(), "(", args, ")"));
    for (const json::Value in : n["inputs"].elements())
      if (const auto [tag, v] = pt2::tagged(in["arg"]); tag == "as_graph" && depth < 64) {
        print_line(out, indent, cat("  ", named(v), ":"));
        print_graph(v["graph"], indent + "    ", out, depth + 1);
      }
  }
  std::string results;
  for (const json::Value o : graph["outputs"].elements()) results += cat(results.empty() ? "" : ", ", pt2_argument(o));
  print_line(out, indent, cat("return ", results));
}

}  // namespace

json::Value pt2_meta(json::Value graph, std::string_view name) {
  const json::Value meta = graph["tensor_values"].find(name);
  if (!meta) return meta;
  const json::Value inner = meta.find("meta");  // PyTorch 2.1
  return inner ? inner : meta;
}

std::string pt2_type(json::Value graph, std::string_view name) {
  DimContext dims;
  if (const json::Value meta = pt2_meta(graph, name)) {
    std::string sizes;
    for (const json::Value v : meta["sizes"].elements())
      sizes += cat(sizes.empty() ? "" : ",", size_text(pt2::sym_int(v), dims));
    return cat(dtype_text(meta["dtype"]), "[", sizes, "]");
  }
  if (const json::Value v = graph["sym_int_values"].find(name)) return cat("int ", size_text(pt2::sym_int(v), dims));
  if (const json::Value kinds = graph.present("sym_float_values"); kinds && kinds.find(name)) return "float";
  return graph["sym_bool_values"].find(name) ? "bool" : "";
}

std::string pt2_argument(json::Value arg) {
  const auto [tag, v] = pt2::tagged(arg);
  if (tag == "as_none") return "None";
  if (tag == "as_scalar_type") return dtype_text(v);
  if (tag == "as_string") return cat("'", v.text(), "'");
  if (tag == "as_graph") return named(v);
  if (tag == "as_device") return std::string(v["type"].text());
  if (v.is_array()) return list(v, [](json::Value part) { return part.is_array() ? list(part, named) : named(part); });
  return named(v);
}

std::string pt2_text(const pt2::Program& program) {
  const json::Value graph = program.graph();
  std::string out;
  for (const pt2::GraphInput& in : program.inputs()) {
    static constexpr std::string_view kinds[] = {"input",  "parameter", "buffer", "constant",
                                                 "object", "token",     "fixed"};
    const std::string type = !in.value.empty() ? pt2_type(graph, in.value)
                             : in.constant     ? pt2_argument(in.constant)
                                               : "";
    print_line(
        out, "",
        cat(kinds[static_cast<int>(in.kind)], " ", in.value.empty() ? std::string_view(in.target) : in.value,
            type.empty() ? "" : ": ", type, in.target.empty() || in.value.empty() ? "" : cat("  # ", in.target)));
  }
  print_graph(graph, "", out, 0);
  return out;
}

}  // namespace cameo::api
