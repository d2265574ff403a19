// One element of a buffer: conversion between Number, double and the stored bytes of every element type. All
// conversions round once, to nearest even, with integer arithmetic only where the CPU has no such format
// (f16, bf16).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "simcore/launch/launch.h"

namespace gpusim::core {

/// Stores `value` as `type` at `out`. False, with nothing written, if an integer type cannot hold it exactly.
bool store_element(ElementType type, const Number& value, std::byte* out);
/// Stores a real as a floating-point type (never fails; too large becomes infinity).
void store_real(ElementType type, double value, std::byte* out);
/// What store_element() or a range refuses, for messages: "300 does not fit into type u8, which holds
/// integers from 0 to 255".
[[nodiscard]] std::string misfit_text(ElementType type, const Number& value);
/// Reads an element; u64 values above 2^63-1 come back as (rounded) reals: element_bits() has them exactly.
[[nodiscard]] Number load_element(ElementType type, const std::byte* in);
/// Bits of the element, zero-extended.
[[nodiscard]] uint64_t element_bits(ElementType type, const std::byte* in);
/// Element for messages: "1.5", "-3", "0x3f".
[[nodiscard]] std::string element_text(ElementType type, const std::byte* in);

/// All of them, for hints.
[[nodiscard]] std::vector<std::string_view> element_type_names();
/// Adds an error for each address in the initial values if elements of this type are no integers of 32 or 64
/// bits.
void check_address_type(const BufferSpec& buffer, Messages& messages);

/// IEEE binary16 and bfloat16, to nearest even.
[[nodiscard]] uint16_t to_half(double value);
[[nodiscard]] uint16_t to_bfloat(double value);
[[nodiscard]] double from_half(uint16_t bits);
[[nodiscard]] double from_bfloat(uint16_t bits);

}  // namespace gpusim::core
