#include "components/sm/register_banks.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace gpusim::comp {

namespace {

using isa::MicroOp;

/// Numbers of registers that are known start here, above those of rows.
constexpr uint32_t kKnown = 1U << 24;

/// What an operation reads of the register file: registers that are known, and rows and, behind the last row,
/// literals whose registers are not.
struct Reads {
  std::array<uint32_t, 10> id{};
  size_t count = 0;
  void add(uint32_t value) {
    const std::span<const uint32_t> before(id.data(), count);
    if (std::ranges::find(before, value) == before.end() && count < id.size()) id[count++] = value;
  }
  void add_known(uint8_t at) { add(kKnown + at); }
  [[nodiscard]] std::span<const uint32_t> all() const { return {id.data(), count}; }
};

class Code {
 public:
  Code(const isa::KernelImage& image, const std::vector<ControlCode>& codes) : image_(image), codes_(codes) {
    const std::vector<size_t> starts = block_starts(image);
    starts_.assign(image.ops.size() + 1, false);
    for (const size_t at : starts) starts_[at] = true;
  }

  /// Registers that operation `pc` has to fetch.
  [[nodiscard]] Reads fetched(size_t pc) const {
    const MicroOp& op = image_.ops[pc];
    Reads reads;
    if (op.kind != isa::OpKind::kAlu) return reads;
    for (uint32_t i = 0; i < op.num_src; ++i) {
      if (!is_narrow_row(op.src[i]) || still_there(pc, i)) continue;
      if (image_.source_registers.empty() || i >= image_.source_registers[pc].size())
        reads.add(row(op.src[i]));
      else if (const uint8_t at = image_.source_registers[pc][i]; at != isa::kInNoRegister)
        reads.add_known(at);
    }
    add_constants(op, reads);
    return reads;
  }

 private:
  static uint32_t row(const isa::RowRef& ref) { return ref.offset / isa::kRowBytes; }
  [[nodiscard]] bool is_narrow_row(const isa::RowRef& ref) const {
    return ref.bank == isa::Bank::kRegister && row(ref) < image_.num_rows && image_.row_widths[row(ref)] == 1;
  }
  /// The two factors of a product may change places.
  static uint32_t place(uint32_t source) { return source < 2 ? 0 : source; }

  [[nodiscard]] bool still_there(size_t pc, uint32_t source) const {
    constexpr uint8_t kLongestStall = 2;
    if (codes_.empty() || starts_[pc] || codes_[pc - 1].stall > kLongestStall) return false;
    const MicroOp& before = image_.ops[pc - 1];
    if (before.kind != isa::OpKind::kAlu) return false;
    const isa::RowRef& ref = image_.ops[pc].src[source];
    const auto same = [&](const isa::RowRef& other) {
      return other.bank == ref.bank && other.offset == ref.offset;
    };
    if (std::any_of(before.dst.begin(), before.dst.begin() + before.num_dst, same)) return false;
    for (uint32_t i = 0; i < before.num_src; ++i)
      if (place(i) == place(source) && same(before.src[i])) return true;
    return false;
  }

  /// Constants of an operation of three sources: one is its operand, others lie in registers. Which ones do
  /// so anyway the lowering has settled (bind_operands.cpp).
  void add_constants(const MicroOp& op, Reads& reads) const {
    if (op.num_src < 3) return;
    Reads constants;
    for (uint32_t i = 0; i < op.num_src; ++i)
      if (op.src[i].bank == isa::Bank::kConstant) constants.add(image_.num_rows + row(op.src[i]));
    for (size_t i = 1; i < constants.count; ++i) reads.add(constants.id[i]);
  }

  const isa::KernelImage& image_;
  const std::vector<ControlCode>& codes_;
  std::vector<bool> starts_;
};

/// How often each operation runs, by the loops around it: eight times for each of up to four.
std::vector<uint32_t> weights(const isa::KernelImage& image) {
  constexpr int64_t kLoops = 4, kBits = 3;
  std::vector<int64_t> change(image.ops.size() + 1, 0);  // of the number of loops, at the first operation
  for (size_t pc = 0; pc < image.ops.size(); ++pc) {
    const MicroOp& op = image.ops[pc];
    if (op.kind != isa::OpKind::kBranch || op.target > pc) continue;
    ++change[op.target];
    --change[pc + 1];
  }
  std::vector<uint32_t> weight;
  weight.reserve(image.ops.size());
  int64_t loops = 0;
  for (size_t pc = 0; pc < image.ops.size(); ++pc) {
    loops += change[pc];
    weight.push_back(1U << kBits * std::min(loops, kLoops));
  }
  return weight;
}

/// Bank of each register.
std::map<uint32_t, uint32_t> deal(const std::vector<Reads>& fetched, const std::vector<uint32_t>& weight,
                                  uint32_t banks) {
  std::map<uint32_t, uint32_t> bank;
  std::map<uint32_t, std::map<uint32_t, uint64_t>> together;
  std::map<uint32_t, uint64_t> total;
  for (size_t pc = 0; pc < fetched.size(); ++pc)
    for (const uint32_t a : fetched[pc].all())
      for (const uint32_t b : fetched[pc].all()) {
        total[a] += weight[pc];
        if (a != b) together[a][b] += weight[pc];
      }
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [id, sum] : total) order.emplace_back(sum, id);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [sum, id] : order) {
    if (id >= kKnown) bank[id] = (id - kKnown) % banks;
  }
  for (const auto& [sum, id] : order) {
    if (id >= kKnown) continue;
    std::vector<uint64_t> conflicts(banks, 0);
    for (const auto& [other, times] : together[id])
      if (const auto at = bank.find(other); at != bank.end()) conflicts[at->second] += times;
    bank[id] = static_cast<uint32_t>(std::ranges::min_element(conflicts) - conflicts.begin());
  }
  return bank;
}

}  // namespace

std::vector<uint8_t> register_bank_delays(const isa::KernelImage& image, const RegisterFile& file,
                                          const ClassTimings& timings,
                                          const std::vector<ControlCode>& codes) {
  const Code code(image, codes);
  std::vector<Reads> fetched;
  fetched.reserve(image.ops.size());
  for (size_t pc = 0; pc < image.ops.size(); ++pc) fetched.push_back(code.fetched(pc));
  const std::map<uint32_t, uint32_t> bank = deal(fetched, weights(image), file.banks);
  std::vector<uint8_t> delays;
  delays.reserve(image.ops.size());
  std::vector<uint32_t> of_bank(file.banks);
  for (size_t pc = 0; pc < image.ops.size(); ++pc) {
    std::ranges::fill(of_bank, 0);
    for (const uint32_t id : fetched[pc].all()) ++of_bank[bank.at(id)];
    const uint32_t most = *std::ranges::max_element(of_bank);
    const uint32_t cycles = (most + file.reads - 1) / file.reads;
    const uint32_t interval = timings[image.ops[pc].op_class].interval[0];
    delays.push_back(static_cast<uint8_t>(cycles > interval ? cycles - interval : 0));
  }
  return delays;
}

}  // namespace gpusim::comp
