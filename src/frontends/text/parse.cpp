#include "frontends/text/parse.h"

#include <algorithm>

#include "frontends/onnx/reader.h"
#include "frontends/text/parser.h"
#include "ops/schema.h"
#include "ops/versions.h"

namespace cameo::frontends {

namespace {

constexpr int64_t default_ir_version = 13;

text::Parser make_parser(std::string_view text, const std::string& name, const ParseOptions& options) {
  return {text, name, options.tensors, {newest_released_opset, default_ir_version, newest_version}};
}

// Where in the text the node at an offset of the bytes stands.
class NodePlaces {
 public:
  NodePlaces(const Bytes& bytes, const text::Parser& parser) : base_(bytes.data()), parser_(parser) {
    pb::Reader model(bytes.text());
    pb::Reader again(bytes.text());
    while (const auto f = model.next())
      if (f.number == 7) nodes_of(f.message(), 1);
    while (const auto f = again.next())
      if (f.number == 25) nodes_of(f.message(), 7);
    invariant(next_ == parser.node_positions().size(), "every node of the text is in the bytes");
  }

  // `offset` of the field or of the message inside it; nullopt when no node begins there.
  std::optional<size_t> position(uint64_t offset) const {
    const auto it =
        std::lower_bound(starts_.begin(), starts_.end(), offset, [](const auto& s, uint64_t o) { return s.first < o; });
    if (it == starts_.end() || it->first != offset) return std::nullopt;
    return it->second;
  }
  std::optional<size_t> position(const std::byte* message) const {
    return position(static_cast<uint64_t>(message - base_));
  }

  Loc place(size_t position) const { return parser_.cursor().place(position); }

 private:
  void nodes_of(pb::Reader in, uint32_t field) {
    while (const auto f = in.next())
      if (f.number == field) node(f);
  }
  void node(const pb::Field& f) {
    auto in = f.message();
    const size_t position = parser_.node_positions()[next_++];
    starts_.emplace_back(f.offset(), position);
    starts_.emplace_back(static_cast<uint64_t>(reinterpret_cast<const std::byte*>(in.rest().data()) - base_), position);
    while (const auto a = in.next()) {
      if (a.number != 5) continue;
      auto attribute = a.message();
      while (const auto g = attribute.next())
        if (g.number == 6 || g.number == 11) nodes_of(g.message(), 1);
    }
  }

  const std::byte* base_;
  const text::Parser& parser_;
  std::vector<std::pair<uint64_t, size_t>> starts_;  // ascending
  size_t next_ = 0;
};

void point_at_text(Diag& d, const NodePlaces& places) {
  if (!d.where.offset) return;
  const auto position = places.position(*d.where.offset);
  d.where.offset.reset();
  if (!position) return;
  std::string scope = std::move(d.where.scope);
  d.where = places.place(*position);
  d.where.scope = std::move(scope);
}

// Every node remembers its line, for what inference and the passes find later.
void stamp_places(Graph& g, const NodePlaces& places, std::string_view text, const std::string& file) {
  std::vector<size_t> lines = {0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') lines.push_back(i + 1);
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    if (n.dead || n.origin == UINT32_MAX) continue;
    const auto position = places.position(g.origins()[n.origin].bytes.data());
    if (!position) continue;
    const auto line = std::upper_bound(lines.begin(), lines.end(), *position) - lines.begin();
    auto notes = n.notes ? std::make_shared<NodeNotes>(*n.notes) : std::make_shared<NodeNotes>();
    notes->where.file = file;
    notes->where.line = static_cast<uint32_t>(line);
    notes->where.column = static_cast<uint32_t>(*position - lines[static_cast<size_t>(line) - 1] + 1);
    g.set_notes(NodeId(i), std::move(notes));
  }
}

}  // namespace

Bytes text_to_onnx(std::string_view text, const std::string& name, const ParseOptions& options) {
  return Bytes::own(make_parser(text, name, options).model());
}

Model parse_text(std::string_view text, const std::string& name, DiagSink& diags, const ParseOptions& options) {
  auto parser = make_parser(text, name, options);
  const Bytes bytes = Bytes::own(parser.model());
  const NodePlaces places(bytes, parser);
  const size_t known = diags.all().size();
  const auto point_all = [&] {
    for (size_t i = known; i < diags.all().size(); ++i) point_at_text(diags.all()[i], places);
  };
  try {
    Model m = read_onnx(bytes, name, diags);
    point_all();
    stamp_places(m.graph, places, text, name);
    return m;
  } catch (const Error& e) {
    point_all();
    std::vector<Diag> found = e.diags();
    for (Diag& d : found) point_at_text(d, places);
    throw Error(std::move(found));
  }
}

Model parse_functions(std::string_view text, const std::string& name, int64_t opset, DiagSink& diags) {
  return parse_text(cat("<ir_version: 10, opset_import: [\"\" : ", opset, "]> none () => () {} ", text), name, diags);
}

}  // namespace cameo::frontends
