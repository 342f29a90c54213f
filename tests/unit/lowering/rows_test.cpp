#include <gtest/gtest.h>

#include "lowering/row.h"
#include "support/error.h"

namespace cameo::tests {

// A row names a real overload and takes no more arguments than it has; a typo fails here.
TEST(Rows, EveryRowNamesATorchOverload) {
  for (const auto name : all_row_names()) {
    const Schema* s = find_schema(name);
    EXPECT_TRUE(s) << name;
    if (!s) continue;
    EXPECT_LE(find_row(name)->arity, s->params.size()) << name;
  }
}

TEST(Rows, SecondNamesFindTheFirst) {
  EXPECT_EQ(find_row("aten::multiply.Tensor"), find_row("aten::mul.Tensor"));
  EXPECT_EQ(find_row("aten::arccos"), find_row("aten::acos"));
  EXPECT_FALSE(find_row("aten::multiply.no_such_overload"));
}

TEST(Schemas, ParseWithTypesDefaultsAndAliases) {
  const Schema* s = find_schema("aten::max_pool2d");
  ASSERT_TRUE(s);
  EXPECT_EQ(s->params[1].type.fixed_size, 2);
  EXPECT_EQ(s->params[2].default_text, "[]");
  const Schema* slice = find_schema("aten::slice.Tensor");
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->params[0].alias, 'a');
  EXPECT_TRUE(find_schema("aten::add_.Tensor")->is_inplace());
  EXPECT_TRUE(find_schema("aten::add.out")->is_out());
  EXPECT_FALSE(find_schema("aten::no_such_operator"));
}

}  // namespace cameo::tests
