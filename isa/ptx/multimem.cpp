#include "isa/ptx/multimem.h"

#include <string_view>
#include <utility>

#include "isa/ptx/unsupported_spellings.h"

namespace gpusim::isa {

std::optional<MultimemForm> multimem_form(const Instruction& i) {
  using Kind = MultimemForm::Kind;
  constexpr std::pair<std::string_view, Semantics> kOrders[] = {{"weak", Semantics::kWeak},
                                                                {"relaxed", Semantics::kRelaxed},
                                                                {"acquire", Semantics::kAcquire},
                                                                {"release", Semantics::kRelease}};
  constexpr std::pair<std::string_view, Scope> kScopes[] = {
      {"cta", Scope::kCta}, {"cluster", Scope::kCluster}, {"gpu", Scope::kGpu}, {"sys", Scope::kSys}};
  constexpr std::pair<std::string_view, uint8_t> kVectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};
  MultimemForm form;
  form.kind = has_word(i, "st") ? Kind::kStore : has_word(i, "red") ? Kind::kReduce : Kind::kLoad;
  form.operation = named_reduction(i);
  form.global = has_word(i, "global");
  for (const std::string_view word : instruction_words(i)) {
    if (const Type type = type_from_name(word); type != Type::kNone) form.type = type;
    for (const auto& [name, order] : kOrders)
      if (word == name) form.order = order;
    for (const auto& [name, scope] : kScopes)
      if (word == name) form.scope = scope;
    for (const auto& [name, elements] : kVectors)
      if (word == name) form.elements = elements;
  }
  if (form.type == Type::kNone || is_float8(form.type)) return std::nullopt;
  return form;
}

}  // namespace gpusim::isa
