#include "api/page/svg.h"

#include <cmath>

#include "api/markup.h"
#include "api/page/box_text.h"
#include "api/page/call.h"
#include "cameo/face.h"

namespace cameo::page {

namespace {

constexpr std::string_view style =
    "text{font:12.5px system-ui,sans-serif;fill:#1c2430;text-anchor:middle}"
    ".s{font-size:11px;fill:#5a6675}.m{text-anchor:start;fill:#5a6675}"
    "rect{fill:#f4f6f9;stroke:#b9c2ce;rx:5}path{fill:none;stroke:#8a95a5;stroke-width:1.2}"
    ".frame{fill:#0b1f4408;stroke:#c9d1dc}.module{fill:#e9eef6;stroke:#8fa3c0}.repeat{fill:#e9eef6;stroke:#5d7ba8;"
    "stroke-width:2}"
    ".input,.output{fill:#fff;stroke:#77839a;rx:12}"
    ".compute{fill:#dbe8fb;stroke:#5b8bd0}.activation{fill:#fbe3dc;stroke:#cf7a5e}.normalise{fill:#e2f1df;stroke:#"
    "6ba35f}"
    ".pool{fill:#ece2f7;stroke:#9272c2}.shape{fill:#f1eee4;stroke:#a89a70}.control{fill:#fdf0cf;stroke:#c49a2c}"
    ".quantise{fill:#d9f1f1;stroke:#4b9c9c}.arithmetic{fill:#e8ebef;stroke:#8b95a3}";

std::string number(double v) { return cat(std::round(v * 10) / 10); }

// Corners are rounded by a curve through each bend.
std::string path_of(const std::vector<layout::Point>& p) {
  std::string out = cat("M", number(p[0].x), " ", number(p[0].y));
  for (size_t i = 1; i < p.size(); ++i) {
    if (p[i].x == p[i - 1].x) {
      out += cat("V", number(p[i].y));
      continue;
    }
    const double middle = (p[i - 1].y + p[i].y) / 2;
    out += cat("C", number(p[i - 1].x), " ", number(middle), " ", number(p[i].x), " ", number(middle), " ",
               number(p[i].x), " ", number(p[i].y));
  }
  return out;
}

std::string text_at(double x, double y, std::string_view kind, std::string_view text) {
  return cat("<text x=\"", number(x), "\" y=\"", number(y), "\"", kind.empty() ? "" : cat(" class=\"", kind, "\""), ">",
             api::xml_text(text), "</text>");
}

std::string box_text(const Tree& tree, const SceneBox& b) {
  const Item& item = tree.items[b.item];
  const std::string_view kind = b.open                        ? "frame"
                                : item.kind == ItemKind::node ? family_of(item.label)
                                                              : name(item.kind);
  std::string out = cat("<g><title>", api::xml_text(printable_text(item.path)), "</title><rect class=\"", kind,
                        "\" x=\"", number(b.x), "\" y=\"", number(b.y), "\" width=\"", number(b.width), "\" height=\"",
                        number(b.height), "\"/>");
  if (b.open) return out + text_at(b.x + 10, b.y + 17, "m", title_of(item)) + "</g>\n";
  const double middle = b.x + b.width / 2;
  out += text_at(middle, b.y + 17, "", title_of(item));
  double y = b.y + 32;
  for (const std::string& line : item.lines) {
    out += text_at(middle, y, "s", line);
    y += 15;
  }
  if (tree.opens(b.item) && item.kind != ItemKind::node) out += text_at(middle, y, "s", cat(item.nodes, " nodes"));
  return out + "</g>\n";
}

}  // namespace

std::string svg_text(const Tree& tree, const Scene& scene) {
  constexpr double edge = 16;
  std::string out = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(scene.width + 2 * edge),
                        "\" height=\"", number(scene.height + 2 * edge), "\" viewBox=\"", number(-edge), " ",
                        number(-edge), " ", number(scene.width + 2 * edge), " ", number(scene.height + 2 * edge),
                        "\">\n<style>", style, "</style>\n<rect x=\"", number(-edge), "\" y=\"", number(-edge),
                        "\" width=\"100%\" height=\"100%\" style=\"fill:#fff;stroke:none\"/>\n");
  for (const SceneBox& b : scene.boxes)
    if (b.open) out += box_text(tree, b);
  for (const SceneLine& l : scene.lines)
    if (l.points.size() > 1)
      out += cat("<path d=\"", path_of(l.points), "\"", l.upwards ? " stroke-dasharray=\"4 3\"" : "", "/>\n");
  for (const SceneBox& b : scene.boxes)
    if (!b.open) out += box_text(tree, b);
  return out + "</svg>\n";
}

}  // namespace cameo::page
