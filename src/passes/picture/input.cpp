#include "passes/picture/input.h"

#include <algorithm>

#include "ops/on.h"
#include "passes/edit.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

class Making {
 public:
  Making(Model& m, const PictureInput& p) : g_(m.graph), p_(p), on_(g_, g_.main(), first_node(m.graph)) {}

  PictureMade run() {
    old_ = find_value(g_, p_.input);
    const Type type = g_[old_].fact.type;
    check(type);
    const bool weights_first = p_.fold && !p_.channels_last && type.elem == DType::f32;
    Affine affine = p_.affine;
    bool reverse = p_.channels == 3 && p_.reversed != p_.given_bgr;
    if (weights_first && reverse && fold_reversal(g_, old_)) {
      made_.reversed_weights = true, reverse = false;
      std::reverse(affine.factor.begin(), affine.factor.end());
      std::reverse(affine.offset.begin(), affine.offset.end());
    }
    made_.folded.rest = affine;
    if (weights_first) made_.folded = fold_affine(g_, old_, affine);
    ValueId x = on_.cast(new_input(type), DType::f32);
    if (p_.given_last) x = transposed(x, {0, 3, 1, 2});
    if (p_.channels == 1) x = grey(x);
    if (p_.any_size || given_height() != p_.height || given_width() != p_.width) x = fitted(x);
    if (reverse) x = on_.Gather(x, on_.ints({2, 1, 0}), {.axis = 1});
    x = applied(x, made_.folded.rest);
    x = on_.cast(x, type.elem);
    if (p_.channels_last) x = transposed(x, {0, 2, 3, 1});
    replace_input(x);
    return made_;
  }

 private:
  static NodeId first_node(const Graph& g) { return g[g.main()].first; }

  void check(const Type& t) const {
    if (!t.is_tensor() || !t.has_rank() || t.rank() != 4 ||
        (t.elem != DType::f32 && t.elem != DType::f16 && t.elem != DType::bf16 && t.elem != DType::f64))
      throw error("prepare.picture",
                  cat("the input '", p_.input, "' is ", t.text(), ": pictures become floats with four axes"));
    constexpr int64_t longest_side = 16'384;
    if (p_.height > longest_side || p_.width > longest_side)
      throw error("prepare.picture", cat("the input '", p_.input, "' is ", t.text(), ": no picture is that large"));
    if (p_.height < 1 || p_.width < 1)
      throw error("prepare.picture",
                  cat("the input '", p_.input, "' is ", t.text(), ": its height and width are not known"))
          .help("size=640x640, or --fix-size");
  }
  int64_t given_height() const { return p_.given_height ? p_.given_height : p_.height; }
  int64_t given_width() const { return p_.given_width ? p_.given_width : p_.width; }

  ValueId new_input(const Type& old) {
    const auto size = [&](const char* name, int64_t n) { return p_.any_size ? g_.dims().symbol(name) : Dim(n); };
    const Dim images = (*old.shape)[0], h = size("picture_height", given_height()),
              w = size("picture_width", given_width());
    const Shape shape = p_.given_last ? Shape{images, h, w, 3} : Shape{images, 3, h, w};
    return input_ = g_.add_input(g_.main(), "", Type::tensor(DType::u8, shape));
  }
  void replace_input(ValueId x) {
    const std::string name = g_[old_].name;
    g_.replace_uses(old_, x);
    auto order = g_[g_.main()].inputs;
    const auto at = static_cast<size_t>(std::find(order.begin(), order.end(), old_) - order.begin());
    g_.remove_region_input(g_.main(), at);
    order = g_[g_.main()].inputs;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(at), order.end() - 1, order.end());
    g_.reorder_inputs(g_.main(), std::move(order));
    g_.rename(input_, name);
  }

  ValueId transposed(ValueId v, std::vector<int64_t> perm) { return on_.Transpose(v, {.perm = std::move(perm)}); }
  ValueId numbers(std::vector<int64_t> shape, const std::vector<double>& v) {
    const std::vector<float> f(v.begin(), v.end());
    return on_.constant(Tensor::of(DType::f32, std::move(shape), std::span<const float>(f)));
  }
  ValueId grey(ValueId x) {
    std::vector<double> parts{0.299, 0.587, 0.114};
    if (p_.given_bgr) std::reverse(parts.begin(), parts.end());
    return on_.ReduceSum(on_.Mul(x, numbers({1, 3, 1, 1}, parts)), on_.ints({1}), {.keepdims = 1});
  }
  ValueId applied(ValueId x, const Affine& a) {
    const auto by_channel = [&](const std::vector<double>& v) {
      return numbers({1, static_cast<int64_t>(v.size()), 1, 1}, v);
    };
    if (a.scales()) x = on_.Mul(x, by_channel(a.factor));
    return a.moves() ? on_.Add(x, by_channel(a.offset)) : x;
  }

  // round(a * b / c), exactly, of whole numbers above 0
  ValueId scaled(ValueId a, int64_t b, ValueId c) {
    const ValueId twice = on_.Mul(a, on_.ints({2 * b}));
    return on_.Div(on_.Add(twice, c), on_.Mul(c, on_.ints({2})));
  }
  ValueId within(ValueId v, int64_t least, int64_t most) {
    return on_.Min(std::vector{on_.Max(std::vector{v, on_.ints({least})}), on_.ints({most})});
  }
  ValueId half(ValueId v) { return on_.Div(v, on_.ints({2})); }
  ValueId ratio(ValueId a, ValueId b) { return on_.Div(on_.cast(a, DType::f32), on_.cast(b, DType::f32)); }

  ValueId resized(ValueId x, ValueId height, ValueId width) {
    const ValueId head = on_.Shape(x, {.end = 2, .start = 0});
    made_.resized = true;
    return on_.Resize(x, {}, {}, on_.Concat(std::vector{head, height, width}, {.axis = 0}),
                      {.antialias = p_.antialias ? 1 : 0,
                       .coordinate_transformation_mode = "half_pixel",
                       .exclude_outside = p_.antialias ? 1 : 0,
                       .mode = "linear"});
  }

  ValueId fitted(ValueId x) {
    using Fit = PictureInput::Fit;
    const ValueId h = on_.Shape(x, {.end = 3, .start = 2}), w = on_.Shape(x, {.end = 4, .start = 3});
    const ValueId to_h = on_.ints({p_.height}), to_w = on_.ints({p_.width});
    if (p_.fit == Fit::stretch) {
      map_back(ratio(h, to_h), ratio(w, to_w), {}, {});
      return resized(x, to_h, to_w);
    }
    const ValueId by_width = scaled(h, p_.width, w), by_height = scaled(w, p_.height, h);
    if (p_.fit == Fit::pad) {
      const ValueId inner_h = within(by_width, 1, p_.height), inner_w = within(by_height, 1, p_.width);
      const ValueId top = half(on_.Sub(to_h, inner_h)), left = half(on_.Sub(to_w, inner_w));
      const ValueId bottom = on_.Sub(on_.Sub(to_h, inner_h), top), right = on_.Sub(on_.Sub(to_w, inner_w), left);
      const ValueId none = on_.ints({0, 0});
      map_back(ratio(h, inner_h), ratio(w, inner_w), on_.Neg(top), on_.Neg(left));
      return on_.Pad(resized(x, inner_h, inner_w),
                     on_.Concat(std::vector{none, top, left, none, bottom, right}, {.axis = 0}),
                     on_.number(p_.border, DType::f32));
    }
    const ValueId inner_h = on_.Max(std::vector{by_width, to_h}), inner_w = on_.Max(std::vector{by_height, to_w});
    const ValueId top = half(on_.Sub(inner_h, to_h)), left = half(on_.Sub(inner_w, to_w));
    map_back(ratio(h, inner_h), ratio(w, inner_w), top, left);
    const ValueId start = on_.Concat(std::vector{top, left}, {.axis = 0});
    return on_.Slice(resized(x, inner_h, inner_w), start, on_.Add(start, on_.ints({p_.height, p_.width})),
                     on_.ints({2, 3}));
  }
  // A place in the model's input, moved by (x, y), times the ratio of sizes.
  void map_back(ValueId by_height, ValueId by_width, ValueId top, ValueId left) {
    made_.factor = on_.Concat(std::vector{by_width, by_height, by_width, by_height}, {.axis = 0});
    const ValueId moved = top ? on_.cast(on_.Concat(std::vector{left, top, left, top}, {.axis = 0}), DType::f32)
                              : numbers({4}, {0, 0, 0, 0});
    made_.offset = on_.Mul(moved, made_.factor);
  }

  Graph& g_;
  const PictureInput& p_;
  On on_;
  PictureMade made_;
  ValueId old_, input_;
};

}  // namespace

PictureMade add_picture_input(Model& m, const PictureInput& p) { return Making(m, p).run(); }

}  // namespace cameo::passes
