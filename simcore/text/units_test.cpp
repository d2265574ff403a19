#include "simcore/text/units.h"

#include <gtest/gtest.h>

namespace gpusim::core {
namespace {

TEST(Units, Sizes) {
  EXPECT_EQ(parse_size("512"), 512);
  EXPECT_EQ(parse_size("16K"), 16384);
  EXPECT_EQ(parse_size("16 KiB"), 16384);
  EXPECT_EQ(parse_size("1.5M"), 1572864);
  EXPECT_EQ(parse_size("4G"), int64_t{4} << 30);
  for (const char* bad :
       {"", "K", "16k", "-1", "1e3", "1.3", "16KK", "99999999999999999999", "9999999999G", "1..5K"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
}

TEST(Units, ClocksAreExact) {
  EXPECT_EQ(parse_khz("1296MHz"), 1296000);
  EXPECT_EQ(parse_khz("1.296GHz"), 1296000);
  EXPECT_EQ(parse_khz("1.2961234GHz"), std::nullopt);  // not a whole number of kHz
  EXPECT_EQ(parse_khz("1296"), std::nullopt);
  EXPECT_EQ(format_khz(1296000), "1296MHz");
  EXPECT_EQ(format_khz(1296001), "1296001kHz");
}

TEST(Units, TimesAndRates) {
  EXPECT_EQ(parse_ns("10ns"), 10.0);
  EXPECT_EQ(parse_ns("1.5us"), 1500.0);
  EXPECT_EQ(parse_ns("500ps"), 0.5);
  EXPECT_EQ(parse_ns("10"), std::nullopt);
  EXPECT_EQ(parse_clocks("12ck"), 12.0);
  EXPECT_EQ(parse_rate("5.5GB/s"), 5500000000);
  EXPECT_EQ(parse_rate("5.5GB"), std::nullopt);
}

TEST(Units, RealsReadBack) {
  for (double value : {0.1, 1e300, 12.5, 3.0, 56.3}) EXPECT_EQ(parse_real(format_real(value)), value);
  EXPECT_EQ(parse_real("nan"), std::nullopt);
  EXPECT_EQ(parse_real("1x"), std::nullopt);
  EXPECT_EQ(parse_real("1e999"), std::nullopt);
}

TEST(Units, EnergiesAndVoltages) {
  EXPECT_DOUBLE_EQ(parse_pj("20pJ").value(), 20);
  EXPECT_DOUBLE_EQ(parse_pj("1.5 nJ").value(), 1500);
  EXPECT_DOUBLE_EQ(parse_pj("300fJ").value(), 0.3);
  EXPECT_DOUBLE_EQ(parse_pj("2uJ").value(), 2e6);
  EXPECT_DOUBLE_EQ(parse_volts("850mV").value(), 0.85);
  EXPECT_DOUBLE_EQ(parse_volts("1.1V").value(), 1.1);
  for (const char* text : {"20", "pJ", "20J", "nan pJ", "1 V"}) EXPECT_FALSE(parse_pj(text)) << text;
  for (const char* text : {"1", "V", "1W", ""}) EXPECT_FALSE(parse_volts(text)) << text;
}

}  // namespace
}  // namespace gpusim::core
