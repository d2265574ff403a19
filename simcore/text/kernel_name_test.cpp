#include "simcore/text/kernel_name.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

TEST(KernelName, IsAsTheSourceHasIt) {
  EXPECT_EQ(demangled("_Z6vecaddPfPKfS1_i"), "vecadd(float*, float const*, float const*, int)");
  EXPECT_EQ(demangled("_Z4copyIfEvPT_S1_"), "void copy<float>(float*, float*)");
  EXPECT_EQ(short_kernel_name("_Z4copyIfEvPT_S1_"), "copy<float>");
  EXPECT_EQ(short_kernel_name("_ZN2ns4copyIfLi4EEEvPT_S2_"), "ns::copy<float, 4>");
  EXPECT_EQ(short_kernel_name("_ZN12_GLOBAL__N_11kEv"), "(anonymous namespace)::k");
}

TEST(KernelName, WhatIsNotMangledStays) {
  for (const char* name : {"vecadd", "i", "f", "_Z", "_Z9short", "_Zzz", "", "a(b)"}) {
    EXPECT_EQ(demangled(name), name);
    EXPECT_EQ(short_kernel_name(name), name);
    EXPECT_TRUE(means_kernel(name, name));
  }
}

TEST(KernelName, IsAcceptedInEveryForm) {
  const char* const mangled = "_ZN2ns4copyIfEEvPT_S2_";
  for (const char* text : {"_ZN2ns4copyIfEEvPT_S2_", "void ns::copy<float>(float*, float*)",
                           "ns::copy<float>", "ns::copy", "void ns::copy<float>"})
    EXPECT_TRUE(means_kernel(text, mangled)) << text;
  for (const char* text : {"copy", "ns::cop", "ns::copy<double>", "float", ""})
    EXPECT_FALSE(means_kernel(text, mangled)) << text;
  EXPECT_FALSE(means_kernel("vec", "vecadd"));
}

}  // namespace
}  // namespace gpusim::core
