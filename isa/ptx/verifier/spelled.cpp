// Operands of the instructions whose modifiers the table of spellings judges
// (isa/ptx/unsupported_spellings.h).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/ptx/mma.h"
#include "isa/ptx/multimem.h"
#include "isa/ptx/unsupported_spellings.h"
#include "isa/ptx/verifier/verifier_impl.h"
#include "isa/ptx/video.h"
#include "isa/ptx/wgmma.h"

namespace gpusim::isa {

using Kind = Operand::Kind;
using enum Opcode;

namespace {
/// A copy of a tensor by one block, of a box of it or of pixels one after another.
bool is_simple_copy(const std::vector<std::string_view>& words) {
  return std::ranges::none_of(words, [](std::string_view w) {
    return w.starts_with("im2col::") || w.starts_with("tile::") || w.starts_with("cta_group::");
  });
}
}  // namespace

std::string unsupported_form(const Instruction& i) {
  const std::string whole = fmt::format("'{}'", opcode_text(i));
  const std::vector<std::string_view> words = instruction_words(i);
  const auto names_variable = [](const Operand& o) { return o.kind == Kind::kAddress && !o.symbol.empty(); };
  switch (i.opcode) {
    case kSuld:
    case kSust:
    case kSured:  // surface references
      return std::ranges::any_of(i.operands, names_variable) ? whole : std::string();
    case kTld4:
      return i.mods.texture >= TextureShape::kCube || compares_depth(i) ? whole : std::string();
    case kCpAsync:  // and createpolicy, clusterlaunchcontrol
      if (words.front() == "createpolicy") return {};
      if (words.front() == "prefetch") return {};
      return words.front() != "cp" || has_word(i, "cp_mask") || has_word(i, "ignore_oob") ||
                     (has_word(i, "tensor") && !is_simple_copy(words))
                 ? whole
                 : std::string();
    case kAsync:  // st.bulk, and what only later targets have
      return words[1] == "async" && has_word(i, "shared::cluster") ? std::string() : whole;
    case kLdmatrix:
    case kStmatrix:
      return has_word(i, "m8n8") ? std::string() : whole;
    case kSuq:
      return words.front() == "suq" && !std::ranges::any_of(i.operands, names_variable) &&
                     !has_word(i, "memory_layout")
                 ? std::string()
                 : whole;
    case kMma:
      return mma_form(i) ? std::string() : whole;
    case kTensormap:
      return has_word(i, "swizzle_atomicity") ? whole : std::string();
    case kMultimem:  // 8-bit floating point
      return multimem_form(i) ? std::string() : whole;
    case kWgmma:
      return words[1] != "mma_async" || wgmma_form(i) ? std::string() : whole;
    default:
      return {};
  }
}

void FunctionVerifier::check_cvt_tf32(const Instruction& i) {
  if (std::string wrong = spelling_error(module_, i); !wrong.empty()) return error(std::move(wrong));
  check_destination(i, i.operands[0], Type::kU32, false);
  check_source(i, i.operands[1], Type::kF32, false);
}

/// cvt.e4m3x2.f32 d, a, b; cvt.e4m3x2.f16x2 d, a; cvt.f16x2.e4m3x2 d, a.
void FunctionVerifier::check_cvt_float8(const Instruction& i) {
  if (std::string wrong = spelling_error(module_, i); !wrong.empty()) return error(std::move(wrong));
  const auto in_register = [](Type t) {
    return is_float8(t) ? Type::kB16 : t == Type::kF16x2 ? Type::kB32 : t;
  };
  check_destination(i, i.operands[0], in_register(i.mods.type), false);
  for (size_t k = 1; k < i.operands.size(); ++k)
    check_source(i, i.operands[k], in_register(i.mods.type2), false);
}

void FunctionVerifier::check_spelled(const Instruction& i) {
  switch (i.opcode) {
    case kSuld:
    case kSust:
    case kSured:
      return check_surface(i);
    case kSuq:
      check_destination(i, i.operands[0], Type::kB32, false);
      return check_texture_name(i.operands[1]);
    case kTld4:
      return check_gather(i);
    case kVideo:
      check_destination(i, i.operands[0], Type::kU32, false);
      for (size_t k = 1; k < i.operands.size(); ++k) check_source(i, i.operands[k], Type::kU32, false);
      if (!video_form(i) && std::ranges::any_of(i.operands, &Operand::negated))
        return error(fmt::format("'{}' cannot negate these operands", name()),
                     "vmad without .po may negate a or b, or c");
      if (!video_form(i))
        return error(fmt::format("'{}' does not have these parts of its operands", name()),
                     "such as %r1.b0 or %r1.h1, of SIMD instructions %r1.b20, %r2.b7654, %r3.h32");
      if (const auto form = video_form(i); form->d != kWholeWord && i.operands.size() == 3)
        error(fmt::format("'{}' writes a part of its destination and needs a third source for the rest",
                          name()));
      return;
    case kCpAsync:
      return check_async_copy(i);
    case kAsync:
      return has_word(i, "bulk") ? void() : check_bulk_copy(i);
    case kMbarrier:
      return check_mbarrier(i);
    case kLdmatrix:
    case kStmatrix:
    case kMovmatrix:
      return check_matrix_move(i);
    case kMma:
      return check_mma(i);
    case kWgmma:
      return check_wgmma(i);
    case kMultimem:
      return check_multimem(i);
    case kMapa:
      return check_cluster_address(i);
    case kTensormap:
      return check_tensor_map(i);
    default:
      return;
  }
}

/// suld.b d, [s, {x, y}]; sust.b and sured.b [s, {x, y}], d: x is a byte of the row, of sust.p and sured.p a
/// texel.
void FunctionVerifier::check_surface(const Instruction& i) {
  const bool store = i.opcode != kSuld;
  const Operand& place = i.operands[store ? 0 : 1];
  check_memory_value(i, i.operands[store ? 1 : 0], !store);
  check_texture_name(place);
  if (place.kind != Kind::kAddress) return;
  if (place.elements.size() != 1)
    return error(place.loc, fmt::format("'{}' needs coordinates behind the surface", name()), "[s, {x, y}]");
  constexpr size_t kNoVector = 3;
  if (place.elements[0].elements.size() == kNoVector)
    return error(place.loc, "coordinates are a vector of 2 or 4 elements", "the fourth is not used");
  check_coordinates(i, place.elements[0], Type::kB32);
}

/// tld4 {d0, d1, d2, d3}, [t, {x, y}] {, offset}.
void FunctionVerifier::check_gather(const Instruction& i) {
  check_memory_value(i, i.operands[0], true);
  const Operand& source = i.operands[1];
  check_texture_name(source);
  if (source.kind != Kind::kAddress) return;
  if (source.elements.size() != 1)
    return error(source.loc, fmt::format("'{}' needs coordinates behind the texture", name()), "[t, {x, y}]");
  check_coordinates(i, source.elements[0], i.mods.type2);
  if (i.operands.size() > 2) check_texture_offset(i, i.operands[2]);
}

/// multimem.ld_reduce d, [a]; multimem.st [a], b; multimem.red [a], b: d and b are vectors if it has them.
void FunctionVerifier::check_multimem(const Instruction& i) {
  const auto form = multimem_form(i);
  if (!form) return;  // not simulated
  const bool loads = form->kind == MultimemForm::Kind::kLoad;
  const bool ordered = form->order != Semantics::kNone && form->order != Semantics::kWeak;
  if (ordered != (form->scope != Scope::kNone))
    return error(
        fmt::format("'{}': .relaxed, .acquire and .release go with a scope, and a scope with them", name()));
  const Operand &address = i.operands[loads ? 1 : 0], &data = i.operands[loads ? 0 : 1];
  if (address.kind != Kind::kAddress)
    return error(address.loc,
                 fmt::format("'{}' needs an address in brackets, found {}", name(), kind_name(address.kind)));
  check_address(i, address);
  // Elements of vectors are whatever has their bits.
  const Type type = form->elements == 1 ? form->type : type_bytes(form->type) == 4 ? Type::kB32 : Type::kB16;
  const auto check_one = [&](const Operand& e) {
    loads ? check_destination(i, e, type, false) : check_source(i, e, type, false);
  };
  if (form->elements == 1) return check_one(data);
  if (data.kind != Kind::kVector || data.elements.size() != form->elements)
    return error(data.loc, fmt::format("'{}' needs a vector of {} elements, found {}", name(), form->elements,
                                       kind_name(data.kind)));
  const auto is_sink = [](const Operand& e) { return e.kind == Kind::kSink; };
  if (loads && std::ranges::all_of(data.elements, is_sink))
    return error(data.loc, fmt::format("'{}' uses nothing of what it reads", name()));
  for (const Operand& e : data.elements)
    if (!loads || !is_sink(e)) check_one(e);
  check_elements_alike(data);
}

/// mapa d, a, rank; getctarank d, a: both have addresses of the type, but the rank has 32 bits.
void FunctionVerifier::check_cluster_address(const Instruction& i) {
  const bool maps = i.operands.size() == 3;
  check_destination(i, i.operands[0], maps ? i.mods.type : Type::kU32, false);
  if (i.operands[1].kind == Kind::kSymbol)
    check_symbol_value(i, i.operands[1]);
  else
    check_source(i, i.operands[1], i.mods.type, false);
  if (maps) check_source(i, i.operands[2], Type::kU32, false);
}

/// cp.async.bulk and cp.reduce.async.bulk [to], [from], bytes {, [mbarrier]} {, blocks} {, policy};
/// st.async and red.async [to], value, [mbarrier].
void FunctionVerifier::check_bulk_copy(const Instruction& i) {
  const auto is_address = [&](size_t k) {
    if (i.operands.size() > k && i.operands[k].kind == Kind::kAddress) return true;
    error(i.operands.size() > k ? i.operands[k].loc : i.loc,
          fmt::format("'{}' needs an address in brackets as operand {}", name(), k + 1));
    return false;
  };
  if (has_word(i, "prefetch")) return;
  if (i.opcode == kAsync) {
    if (is_address(0)) static_cast<void>(is_address(2));
    return;
  }
  if (!is_address(0) || !is_address(1)) return;
  if (i.operands.size() < 3) return error(fmt::format("'{}' needs a number of bytes", name()));
  check_source(i, i.operands[2], Type::kU32, false);
  if (has_word(i, "mbarrier::complete_tx::bytes") && !is_address(3)) return;
  if (!has_word(i, "multicast::cluster")) return;
  if (i.operands.size() < 5) return error(fmt::format("'{}' needs a mask of blocks", name()));
  check_source(i, i.operands[4], Type::kB16, false);
}

/// cp.async.bulk.tensor.2d.shared::cluster.global... [to], [map, {x, y}], [mbarrier] {, blocks} {, policy};
/// to global memory, reductions too, [map, {x, y}], [from] {, policy}; prefetches [map, {x, y}] {, policy}.
/// Loads and prefetches in im2col mode have the offsets of the pixels behind the addresses.
void FunctionVerifier::check_tensor_copy(const Instruction& i) {
  const std::vector<std::string_view> words = instruction_words(i);
  const size_t dimensions = static_cast<size_t>(
      words[static_cast<size_t>(std::ranges::find(words, "tensor") - words.begin() + 1)][0] - '0');
  const bool loads = has_word(i, "mbarrier::complete_tx::bytes"), prefetches = has_word(i, "prefetch");
  const size_t tensor = loads ? 1 : 0, addresses = loads ? 3 : prefetches ? 1 : 2;
  const bool blocks = has_word(i, "multicast::cluster"), policy = has_word(i, "L2::cache_hint");
  const bool pixels = has_word(i, "im2col"), walks = pixels || has_word(i, "im2col_no_offs");
  constexpr size_t kLeastIm2col = 3;
  if (walks && dimensions < kLeastIm2col)
    return error(fmt::format("'{}': im2col mode has 3 to 5 dimensions", name()));
  const size_t offsets = pixels ? 1 : 0;
  const size_t operands = addresses + offsets + (blocks ? 1 : 0) + (policy ? 1 : 0);
  if (i.operands.size() != operands)
    return error(fmt::format("'{}' takes {} operands, found {}", name(), operands, i.operands.size()));
  for (size_t k = 0; k < addresses; ++k)
    if (i.operands[k].kind != Kind::kAddress)
      return error(i.operands[k].loc,
                   fmt::format("'{}' needs an address in brackets as operand {}", name(), k + 1));
  const Operand& place = i.operands[tensor];
  if (place.elements.size() != 1 || place.elements[0].kind != Kind::kVector ||
      place.elements[0].elements.size() != dimensions)
    return error(place.loc, fmt::format("'{}' needs {} coordinate{} behind the tensor map", name(),
                                        dimensions, dimensions == 1 ? "" : "s"));
  for (const Operand& e : place.elements[0].elements) check_source(i, e, Type::kB32, false);
  if (pixels) {
    const Operand& offset = i.operands[addresses];
    if (offset.kind != Kind::kVector || offset.elements.size() != dimensions - 2)
      return error(offset.loc, fmt::format("'{}' needs {} offset{} in braces", name(), dimensions - 2,
                                           dimensions == kLeastIm2col ? "" : "s"));
    for (const Operand& e : offset.elements) check_source(i, e, Type::kB16, false);
  }
  if (blocks) check_source(i, i.operands[addresses + offsets], Type::kB16, false);
}

/// tensormap.replace [map], {dimension,} value; tensormap.cp_fenceproxy [to], [from], 128.
void FunctionVerifier::check_tensor_map(const Instruction& i) {
  constexpr uint64_t kBytes = 128, kLastDimension = 4, kLastElement = 12;
  const bool copies = has_word(i, "cp_fenceproxy");
  for (size_t k = 0; k < (copies ? 2u : 1u); ++k)
    if (i.operands[k].kind != Kind::kAddress)
      return error(i.operands[k].loc,
                   fmt::format("'{}' needs an address in brackets as operand {}", name(), k + 1));
  const auto constant = [&](const Operand& o, uint64_t least, uint64_t most) {
    if (o.kind == Kind::kImmediate && o.imm >= least && o.imm <= most) return;
    error(o.loc, least == most
                     ? fmt::format("'{}' needs the constant {} here", name(), most)
                     : fmt::format("'{}' needs a constant from {} to {} here", name(), least, most));
  };
  if (copies) return constant(i.operands[2], kBytes, kBytes);
  const bool wide = has_word(i, "global_address") || has_word(i, "global_stride");
  if (wide != has_word(i, "b64"))
    return error(fmt::format("'{}': this field has {} bits", name(), wide ? 64 : 32));
  if (i.operands.size() > 2) constant(i.operands[1], 0, kLastDimension);
  const std::pair<std::string_view, uint64_t> numbers[] = {
      {"elemtype", kLastElement}, {"interleave_layout", 2}, {"swizzle_mode", 3}, {"fill_mode", 1}};
  for (const auto& [field, most] : numbers)
    if (has_word(i, field)) return constant(i.operands[1], 0, most);
  check_source(i, i.operands.back(), wide ? Type::kB64 : Type::kB32, false);
}

/// cp.async.ca.shared.global [to], [from], bytes {, bytes that are read, or a predicate} {, policy};
/// cp.async.wait_group number.
void FunctionVerifier::check_async_copy(const Instruction& i) {
  const auto constant = [&](const Operand& o) {
    if (o.kind == Kind::kImmediate) return true;
    error(o.loc, fmt::format("'{}' needs an integer constant here, found {}", name(), kind_name(o.kind)));
    return false;
  };
  if (i.operands.empty()) return;
  if (instruction_words(i).front() == "createpolicy")
    return check_destination(i, i.operands[0], Type::kB64, false);
  if (has_word(i, "tensor")) return check_tensor_copy(i);
  if (has_word(i, "bulk") && i.operands.size() > 1) return check_bulk_copy(i);
  if (i.operands[0].kind != Kind::kAddress) {
    static_cast<void>(constant(i.operands[0]));
    return;
  }
  if (i.operands.size() == 1) return;  // cp.async.mbarrier.arrive [b]
  for (size_t k = 0; k < 2; ++k) {
    const Operand& o = i.operands[k];
    if (o.kind != Kind::kAddress)
      return error(o.loc,
                   fmt::format("'{}' needs an address in brackets, found {}", name(), kind_name(o.kind)));
  }
  if (!constant(i.operands[2])) return;
  const uint64_t bytes = i.operands[2].imm;
  const bool bypasses = has_word(i, "cg");
  if (bypasses ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
    return error(i.operands[2].loc,
                 bypasses ? "cp.async.cg copies 16 bytes" : "cp.async copies 4, 8 or 16 bytes");
  if (i.operands.size() < 4) return;
  const Operand& read = i.operands[3];
  const bool predicate = read.kind == Kind::kRegister && read.reg != kNoRegister &&
                         function_.registers[read.reg].type == Type::kPred;
  if (predicate || (has_word(i, "L2::cache_hint") && i.operands.size() == 4)) return;
  if (read.kind == Kind::kImmediate && read.imm > bytes)
    return error(read.loc, fmt::format("{} of {} bytes cannot be read", read.imm, bytes));
  check_source(i, read, Type::kU32, false);
}

void FunctionVerifier::check_mbarrier(const Instruction& i) {
  const bool tests = has_word(i, "test_wait") || has_word(i, "try_wait");
  if (has_word(i, "pending_count")) {
    check_destination(i, i.operands[0], Type::kB32, false);
    return check_source(i, i.operands[1], Type::kB64, false);
  }
  const bool arrives = has_word(i, "arrive") || has_word(i, "arrive_drop");
  if (arrives && i.operands[0].kind == Kind::kAddress)
    return error(fmt::format("'{}' needs a destination, or '_'", name()));
  size_t at = 0;
  if (tests) {
    check_destination(i, i.operands[at++], Type::kPred, false);
  } else if (i.operands[0].kind != Kind::kAddress) {
    if (i.operands[0].kind != Kind::kSink) check_destination(i, i.operands[0], Type::kB64, false);
    ++at;
  }
  if (at >= i.operands.size() || i.operands[at].kind != Kind::kAddress)
    return error(fmt::format("'{}' needs the address of an mbarrier in brackets", name()));
  const bool state = tests && !has_word(i, "parity");
  for (size_t k = at + 1; k < i.operands.size(); ++k)
    check_source(i, i.operands[k], state && k == at + 1 ? Type::kB64 : Type::kB32, false);
}

void FunctionVerifier::check_vector_of(const Instruction& i, const Operand& o, size_t count, Type type,
                                       bool destination) {
  if (o.kind != Kind::kVector || o.elements.size() != count)
    return error(o.loc, fmt::format("'{}' needs {} register{} in braces here, found {}", name(), count,
                                    count == 1 ? "" : "s",
                                    o.kind == Kind::kVector ? fmt::format("{}", o.elements.size())
                                                            : std::string(kind_name(o.kind))));
  for (const Operand& e : o.elements) {
    destination ? check_destination(i, e, type, false) : check_source(i, e, type, false);
  }
}

void FunctionVerifier::check_matrix_move(const Instruction& i) {
  if (i.opcode == kMovmatrix) {
    check_destination(i, i.operands[0], Type::kB32, false);
    return check_source(i, i.operands[1], Type::kB32, false);
  }
  const bool store = i.opcode == kStmatrix;
  const Operand& place = i.operands[store ? 0 : 1];
  if (place.kind != Kind::kAddress)
    return error(place.loc,
                 fmt::format("'{}' needs an address in brackets, found {}", name(), kind_name(place.kind)));
  check_vector_of(i, i.operands[store ? 1 : 0],
                  has_word(i, "x4")   ? 4
                  : has_word(i, "x2") ? 2
                                      : 1,
                  Type::kB32, !store);
}

/// mma d, a, b, c; mma.sp d, a, b, c, metadata, selector.
void FunctionVerifier::check_mma(const Instruction& i) {
  const std::optional<MmaForm> form = mma_form(i);
  if (!form) return;
  if (i.operands.size() != form->operands())
    return error(
        fmt::format("'{}' takes {} operands, found {}", name(), form->operands(), i.operands.size()));
  const bool doubles = form->multiplicand == Type::kF64;
  const Type word = doubles ? Type::kF64 : Type::kB32;
  const auto of_sum = [&](Type t) { return t == Type::kF16 || doubles ? word : t; };
  check_vector_of(i, i.operands[0], form->d_registers, of_sum(form->d), true);
  check_vector_of(i, i.operands[1], form->a_registers, word, false);
  check_vector_of(i, i.operands[2], form->b_registers, word, false);
  check_vector_of(i, i.operands[3], form->c_registers, of_sum(form->c), false);
  constexpr size_t kPlaces = 4;
  if (form->sparse) check_places(i, kPlaces, form->place_lanes);
}

/// Where the elements of a sparse matrix lie, and which of four lanes say it (`lanes` of them together).
void FunctionVerifier::check_places(const Instruction& i, size_t operand, size_t lanes) {
  check_source(i, i.operands[operand], Type::kB32, false);
  const Operand& selector = i.operands[operand + 1];
  const auto most = static_cast<int64_t>(4 / lanes) - 1, number = static_cast<int64_t>(selector.imm);
  if (selector.kind != Operand::Kind::kImmediate || number < 0 || number > most)
    error(selector.loc, fmt::format("'{}' needs a constant from 0 to {} here", name(), most));
}

/// wgmma.mma_async d, a, b, {sp-meta, sp-sel,} scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b.
void FunctionVerifier::check_wgmma(const Instruction& i) {
  const auto is_number = [](const Operand& o) {
    return o.kind == Kind::kImmediate && o.imm_kind == Operand::ImmKind::kInt;
  };
  if (has_word(i, "wait_group") && !is_number(i.operands[0]))
    return error(fmt::format("'{}' needs a constant, how many groups may be left", name()));
  const std::optional<WgmmaForm> form = wgmma_form(i);
  if (!form) return;
  if (i.operands.size() != form->operands())
    return error(
        fmt::format("'{}' takes {} operands, found {}", name(), form->operands(), i.operands.size()));
  check_vector_of(i, i.operands[0], form->d_registers(), form->d == Type::kF16 ? Type::kB32 : form->d, true);
  if (form->a_in_registers)
    check_vector_of(i, i.operands[1], 4, Type::kB32, false);
  else
    check_source(i, i.operands[1], Type::kB64, false);
  check_source(i, i.operands[2], Type::kB64, false);
  if (form->sparse) check_places(i, WgmmaForm::kPlaces, form->place_lanes());
  check_source(i, i.operands[form->scale()], Type::kPred, false);
  for (size_t k = form->signs(); k < i.operands.size(); ++k) {
    const bool sign = form->has_signs && k < form->signs() + 2;
    const Operand& o = i.operands[k];
    const auto number = static_cast<int64_t>(o.imm);
    if (!is_number(o) || (sign ? number != 1 && number != -1 : number != 0 && number != 1))
      error(o.loc, fmt::format("'{}' needs {} here", name(), sign ? "1 or -1" : "0 or 1"));
  }
}

}  // namespace gpusim::isa
