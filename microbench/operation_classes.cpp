#include "microbench/operation_classes.h"

#include <array>

namespace gpusim::microbench {

namespace {

constexpr int kAll = 999, kBefore20 = 19;
using Row = OperationRow;
constexpr std::array kRows = {
    Row{"int_add", "int", 'i', 10, kAll, "add.s32 {0}, {0}, %c1;", 1, "add.s32 {0}, {0}, {2};"},
    Row{"int_mul24", "int_mul24", 'i', 10, kBefore20, "mul24.lo.s32 {0}, {0}, %c1;"},
    Row{"int_mul", "int_mul", 'i', 10, kAll, "mul.lo.s32 {0}, {0}, %c1;"},
    Row{"int_div_u32", "int_div_u32", 'i', 10, kAll, "div.u32 {0}, {0}, %c1;", 1, "div.u32 {0}, %c1, {0};"},
    Row{"int_div_s32", "int_div_s32", 'i', 10, kAll, "div.s32 {0}, {0}, %c1;", 1, "div.s32 {0}, %c1, {0};"},
    Row{"int64_add", "int64", 'l', 10, kAll, "add.s64 {0}, {0}, %k1;", 1, "add.s64 {0}, {0}, {2};"},
    Row{"int64_mul", "int_mul64", 'l', 10, kAll, "mul.lo.s64 {0}, {0}, %k1;"},
    Row{"int64_div", "int_div64", 'l', 10, kAll, "div.s64 {0}, {0}, %k1;", 1, "div.s64 {0}, %k1, {0};"},
    Row{"bit_count", "bit_count", 'i', 20, kAll, "popc.b32 {0}, {0};"},
    Row{"fp32_add", "fp32", 'f', 10, kAll, "add.f32 {0}, {0}, %g1;"},
    Row{"fp32_mul", "fp32_mul", 'f', 10, kAll, "mul.f32 {0}, {0}, %g1;"},
    Row{"fp32_mad", "fp32", 'f', 10, kBefore20, "mad.f32 {0}, {0}, %g1, %g2;"},
    Row{"fp32_fma", "fp32", 'f', 20, kAll, "fma.rn.f32 {0}, {0}, %g1, %g2;"},
    Row{"fp32_div", "fp32_div", 'f', 10, kAll, "div.full.f32 {0}, {0}, %g1;", 1,
        "div.full.f32 {0}, %g1, {0};"},
    Row{"fp32_div_rn", "fp32_div_rn", 'f', 20, kAll, "div.rn.f32 {0}, {0}, %g1;", 1,
        "div.rn.f32 {0}, %g1, {0};"},
    Row{"fp32_rcp_rn", "fp32_rcp_rn", 'f', 20, kAll, "rcp.rn.f32 {0}, {0};"},
    Row{"fp32_sqrt_rn", "fp32_sqrt_rn", 'f', 20, kAll, "sqrt.rn.f32 {0}, {0};"},
    Row{"fp16x2_fma", "half", 'h', 53, kAll, "fma.rn.f16x2 {0}, {0}, %s1, %s1;"},
    Row{"fp64_add", "fp64", 'd', 13, kAll, "add.rn.f64 {0}, {0}, %h1;"},
    Row{"fp64_fma", "fp64", 'd', 13, kAll, "fma.rn.f64 {0}, {0}, %h1, %h2;"},
    Row{"fp64_div", "fp64_div", 'd', 13, kAll, "div.rn.f64 {0}, {0}, %h1;", 1, "div.rn.f64 {0}, %h1, {0};"},
    Row{"fp64_sqrt", "fp64_sqrt", 'd', 13, kAll, "sqrt.rn.f64 {0}, {0};"},
    Row{"sfu_rcp", "sfu_rcp", 'f', 20, kAll, "rcp.approx.f32 {0}, {0};"},
    Row{"sfu_rsqrt", "sfu_rsqrt", 'f', 10, kAll, "rsqrt.approx.f32 {0}, {0};"},
    Row{"sfu_sqrt", "sfu_sqrt", 'f', 10, kAll, "sqrt.approx.f32 {0}, {0};"},
    Row{"sfu_sin", "sfu_sin", 'f', 10, kAll, "sin.approx.f32 {0}, {0};"},
    Row{"sfu_ex2", "sfu_sin", 'f', 10, kAll, "ex2.approx.f32 {0}, {0};"},
    Row{"sfu_lg2", "sfu_rsqrt", 'f', 10, kAll, "lg2.approx.f32 {0}, {0};"},
    Row{"convert", "cvt", 'f', 10, kAll, "cvt.rni.f32.f32 {0}, {0};"},
    Row{"convert64", "cvt64", 'd', 13, kAll, "cvt.rzi.s32.f64 %q{1}, {0}; cvt.rn.f64.s32 {0}, %q{1};", 2},
    Row{"shared_operand", "shared_operand", 'f', 10, kBefore20,
        "ld.shared.f32 %t{1}, [%sh]; mad.f32 {0}, {0}, %t{1}, %g2;"},
    Row{"shuffle", "warp", 'i', 30, kAll, "shfl.sync.bfly.b32 {0}, {0}, 1, 31, -1;"},
    Row{"shared_atomic", "atom_shared", 'i', 20, kAll, "atom.shared.add.u32 {0}, [%sl], {0};"},
};

}  // namespace

std::span<const OperationRow> operation_rows() { return kRows; }

}  // namespace gpusim::microbench
