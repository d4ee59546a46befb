//===- names_test.cpp - the user's names in CUDA C++ -----------------------------------------===//

#include "Target/Cuda/LineWriter.h"
#include "Target/Cuda/Names.h"

#include <gtest/gtest.h>

#include <set>

using namespace rnnc::cuda;

namespace {

TEST(Names, Spelling) {
  EXPECT_EQ(spell("h"), "h");
  EXPECT_EQ(spell("z[2]"), "z_2");
  EXPECT_EQ(spell("R[1, 0, 3]"), "R_1_0_3");
  EXPECT_EQ(spell("α"), "alpha");
  EXPECT_EQ(spell("Ω"), "Omega");
  EXPECT_EQ(spell("ς"), "sigma");
  EXPECT_EQ(spell("dαx2"), "d_alphax2");
  EXPECT_EQ(spell("_h"), "h");
  EXPECT_EQ(spell("a__b"), "a_b");
  EXPECT_EQ(spell("_2"), "x2");
  EXPECT_EQ(spell("_"), "x");
  EXPECT_EQ(spell(""), "x");
  EXPECT_EQ(spell("\xCE"), "x");
}

TEST(Names, EveryNameOnce) {
  NameScope scope;
  std::set<std::string> given;
  for (int i = 0; i < 1000; ++i)
    for (const char* wanted : {"a", "a_2", "a_2_2", "α", "alpha", "float", "real", "next", "step"})
      EXPECT_TRUE(given.insert(scope.unique(wanted)).second);
  for (const char* reserved : {"float", "real", "next", "step", "threadIdx"})
    EXPECT_FALSE(given.contains(reserved));
}

TEST(LineWriter, SaysLinesWhereACompilerWouldCountWrongly) {
  LineWriter out("U.cu");
  out.line("one");
  out.from("a.rnn", 7);
  out.line("seven");
  out.from("a.rnn", 8); // follows by itself
  out.line("eight");
  out.from("a.rnn", 8);
  out.line("eight again");
  out.from("b.rnn", 9);
  out.line("nine");
  out.fromUnit();
  out.line("two\nlines");
  out.fromUnit();
  out.line("last");
  EXPECT_EQ(out.take(), "one\n#line 7 \"a.rnn\"\nseven\neight\n#line 8\neight again\n"
                        "#line 9 \"b.rnn\"\nnine\n#line 10 \"U.cu\"\ntwo\nlines\nlast\n");
}

} // namespace
