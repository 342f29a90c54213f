#include "layout/rows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace cameo::layout {

namespace {

// The links that leave box b are list[first[b]] to list[first[b + 1]].
struct Leaving {
  std::vector<uint32_t> first, list;

  Leaving(size_t boxes, const std::vector<Link>& links) : first(boxes + 1, 0), list(links.size()) {
    for (const Link& l : links) ++first[l.from + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (uint32_t i = 0; i < links.size(); ++i) list[next[links[i].from]++] = i;
  }
};

// Links that lead back to a box whose links are still being followed.
std::vector<bool> closing_links(const Drawing& d, const Leaving& out) {
  enum class Seen : uint8_t { no, open, done };
  std::vector<Seen> seen(d.boxes.size(), Seen::no);
  std::vector<bool> closing(d.links.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> stack;  // box, next link
  for (uint32_t root = 0; root < d.boxes.size(); ++root) {
    if (seen[root] != Seen::no) continue;
    seen[root] = Seen::open;
    stack.emplace_back(root, out.first[root]);
    while (!stack.empty()) {
      const auto [box, next] = stack.back();
      if (next == out.first[box + 1]) {
        seen[box] = Seen::done;
        stack.pop_back();
        continue;
      }
      ++stack.back().second;
      const uint32_t link = out.list[next], to = d.links[link].to;
      if (seen[to] == Seen::open) closing[link] = true;
      else if (seen[to] == Seen::no) {
        seen[to] = Seen::open;
        stack.emplace_back(to, out.first[to]);
      }
    }
  }
  return closing;
}

struct Down {  // a link, downwards
  uint32_t upper, lower;
};

std::vector<uint32_t> topological(const std::vector<Down>& down, const std::vector<std::vector<uint32_t>>& below) {
  std::vector<uint32_t> missing(below.size(), 0), ready;
  for (const auto& links : below)
    for (const uint32_t l : links) ++missing[down[l].lower];
  for (uint32_t b = 0; b < below.size(); ++b)
    if (!missing[b]) ready.push_back(b);
  for (size_t i = 0; i < ready.size(); ++i)
    for (const uint32_t l : below[ready[i]])
      if (!--missing[down[l].lower]) ready.push_back(down[l].lower);
  return ready;
}

// Longest paths from above; then boxes with more links below than above move down to their users, so that constants
// and shapes stand where they are read.
void assign_rows(const Drawing& d, const std::vector<Down>& down, const std::vector<uint32_t>& sorted,
                 const std::vector<std::vector<uint32_t>>& below, std::vector<uint32_t>& row) {
  std::vector<uint32_t> ins(d.boxes.size(), 0);
  const bool top = std::any_of(d.boxes.begin(), d.boxes.end(), [](const Box& b) { return b.pin == Pin::top; });
  for (const uint32_t b : sorted) {
    if (top && d.boxes[b].pin != Pin::top) row[b] = std::max(row[b], 1u);
    for (const uint32_t l : below[b]) {
      row[down[l].lower] = std::max(row[down[l].lower], row[b] + 1);
      ++ins[down[l].lower];
    }
  }
  for (auto it = sorted.rbegin(); it != sorted.rend(); ++it) {
    const uint32_t b = *it;
    if (d.boxes[b].pin != Pin::free || below[b].size() <= ins[b]) continue;
    uint32_t least = UINT32_MAX;
    for (const uint32_t l : below[b]) least = std::min(least, row[down[l].lower]);
    row[b] = std::max(row[b], least - 1);
  }
  uint32_t last = 0;
  bool bottom = false;
  for (uint32_t b = 0; b < d.boxes.size(); ++b) {
    if (d.boxes[b].pin != Pin::bottom) last = std::max(last, row[b]);
    else bottom = true;
  }
  if (bottom)
    for (uint32_t b = 0; b < d.boxes.size(); ++b)
      if (d.boxes[b].pin == Pin::bottom) row[b] = std::max(row[b], last + 1);
}

// One wire's links, and how far down it goes.
struct Trunk {
  std::vector<uint32_t> links;
  uint32_t source = 0, end = 0;
};

uint32_t add_vertex(Rows& r, uint32_t row) {
  r.row.push_back(row);
  r.width.push_back(0);
  return static_cast<uint32_t>(r.row.size() - 1);
}

void add_trunk(Rows& r, const Drawing& d, const std::vector<Down>& down, const Trunk& t) {
  const uint32_t start = r.row[t.source];
  std::vector<uint32_t> bends;  // of the rows after `start`
  const auto port = [&](uint32_t link, bool upper) {
    return upper != r.reversed[link] ? d.links[link].from_port : d.links[link].to_port;
  };
  for (uint32_t i = start + 1; i < t.end; ++i) {
    bends.push_back(add_vertex(r, i));
    const uint32_t before = bends.size() == 1 ? t.source : bends[bends.size() - 2];
    r.segments.push_back({before, bends.back(), bends.size() == 1 ? port(t.links[0], true) : 0, 0});
  }
  for (const uint32_t link : t.links) {
    const uint32_t lower = down[link].lower, count = r.row[lower] - start - 1;
    const uint32_t before = count ? bends[count - 1] : t.source;
    r.segments.push_back({before, lower, count ? 0 : port(link, true), port(link, false)});
    auto& way = r.ways[link];
    way.push_back(t.source);
    way.insert(way.end(), bends.begin(), bends.begin() + count);
    way.push_back(lower);
  }
}

std::vector<Trunk> trunks_of(const Rows& r, const Drawing& d, const std::vector<Down>& down) {
  std::vector<Trunk> all;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;  // (wire, upper box) of links that go down
  for (uint32_t i = 0; i < down.size(); ++i) {
    if (down[i].upper == down[i].lower) continue;
    Trunk* t = nullptr;
    if (r.reversed[i]) t = &all.emplace_back();
    else {
      const auto [it, fresh] = known.try_emplace({d.links[i].wire, down[i].upper}, all.size());
      if (fresh) all.emplace_back();
      t = &all[it->second];
    }
    t->source = down[i].upper;
    t->links.push_back(i);
    t->end = std::max(t->end, r.row[down[i].lower]);
  }
  return all;
}

// The longest wires lose their long links until all bends together are few enough.
void keep_within(uint64_t most, const Rows& r, const std::vector<Down>& down, std::vector<Trunk>& all) {
  const auto bends = [&](const Trunk& t) { return uint64_t{t.end - r.row[t.source] - 1}; };
  uint64_t total = 0;
  for (const Trunk& t : all) total += bends(t);
  if (total <= most) return;
  std::vector<uint32_t> by_length(all.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](uint32_t a, uint32_t b) { return bends(all[a]) > bends(all[b]); });
  constexpr uint32_t near = 4;  // rows: what is as close stays
  for (const uint32_t i : by_length) {
    if (total <= most) break;
    Trunk& t = all[i];
    total -= bends(t);
    const uint32_t start = r.row[t.source];
    std::erase_if(t.links, [&](uint32_t l) { return r.row[down[l].lower] > start + near; });
    t.end = start + 1;
    for (const uint32_t l : t.links) t.end = std::max(t.end, r.row[down[l].lower]);
    if (!t.links.empty()) total += bends(t);
  }
  std::erase_if(all, [](const Trunk& t) { return t.links.empty(); });
}

}  // namespace

Rows make_rows(const Drawing& d) {
  const size_t n = d.boxes.size();
  const Leaving out(n, d.links);
  Rows r;
  r.boxes = n;
  r.row.assign(n, 0);
  for (const Box& b : d.boxes) r.width.push_back(b.width);
  r.reversed = closing_links(d, out);
  std::vector<Down> down;
  for (uint32_t i = 0; i < d.links.size(); ++i)
    down.push_back(r.reversed[i] ? Down{d.links[i].to, d.links[i].from} : Down{d.links[i].from, d.links[i].to});
  std::vector<std::vector<uint32_t>> below(n);
  for (uint32_t i = 0; i < down.size(); ++i)
    if (down[i].upper != down[i].lower) below[down[i].upper].push_back(i);
  assign_rows(d, down, topological(down, below), below, r.row);

  r.ways.resize(d.links.size());
  auto trunks = trunks_of(r, d, down);
  keep_within(d.most_bends ? d.most_bends : std::max<uint64_t>(4096, 12 * uint64_t{n}), r, down, trunks);
  for (const Trunk& t : trunks) add_trunk(r, d, down, t);

  r.above.resize(r.row.size());
  r.below.resize(r.row.size());
  for (uint32_t i = 0; i < r.segments.size(); ++i) {
    r.below[r.segments[i].upper].push_back(i);
    r.above[r.segments[i].lower].push_back(i);
  }
  return r;
}

}  // namespace cameo::layout
