#include "analysis/models/reuse_distance/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>

#include "components/sm/timing.h"
#include "simcore/config/limits.h"
#include "simcore/record/event_schema.h"

namespace gpusim::analysis {
namespace {

constexpr uint64_t kFirstLevel = 6;  ///< events/cache `cache`: the SMs' L1 data caches
constexpr uint64_t kNoPc = 0xffff'ffff;
constexpr uint64_t kSectorOfMask = 32;
constexpr size_t kMostAtOnce = core::kMaxSchedulers;  ///< accesses that an SM issues in one cycle
constexpr size_t kWindow = 16;                        ///< accesses before one that it may depend on

/// A warp's access as recorded.
struct Access {
  uint64_t issue = 0, complete = 0, pc = 0;
  core::AccessKind kind = core::AccessKind::kLoad;
  size_t first = 0, count = 0;  ///< its transactions
  bool cached = false, local = false;
};

std::optional<isa::OpClass> class_of(std::string_view name) {
  for (size_t c = 0; c < comp::kNumOpClasses; ++c)
    if (isa::op_class_name(static_cast<isa::OpClass>(c)) == name) return static_cast<isa::OpClass>(c);
  return std::nullopt;
}

uint64_t pair_of(uint64_t before, uint64_t after) { return before << 32 | after; }

class Reader {
 public:
  Reader(const Recording& recording, const KernelRecord& kernel) : recording_(recording), kernel_(kernel) {
    line_ = static_cast<uint64_t>(recording.machine().l1.line);
    read_lines();
    read_accesses();
    read_barriers();
    find_dependences();
    find_gaps();
    find_work();
  }

  WarpTrace trace() {
    WarpTraceHeader h;
    h.kernel = kernel_.name;
    h.machine = recording_.machine().gpu.name;
    h.block_threads = static_cast<uint32_t>(recording_.attribute(kernel_.index, "threads_per_block"));
    h.block_warps = warps_;
    h.blocks = blocks_;
    h.registers = static_cast<uint32_t>(recording_.attribute(kernel_.index, "registers"));
    h.shared_bytes = static_cast<uint32_t>(recording_.attribute(kernel_.index, "shared_bytes"));
    WarpTrace trace(h);
    std::vector<WarpEncoder> encoders(warps_);
    for (uint64_t b = 0; b < blocks_; ++b) {
      for (WarpEncoder& e : encoders) e.clear();
      for (uint32_t w = 0; w < warps_; ++w) encode(b, of_warp_[b * warps_ + w], encoders[w]);
      trace.append_block(encoders);
    }
    return trace;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw core::RecordError(
        fmt::format("'{}': kernel {} '{}': {}", recording_.path(), kernel_.index, kernel_.name, what));
  }

  void read_lines() {
    const core::MachineConfig& m = recording_.machine();
    // Their records do not name the texels' lines.
    if (m.texture.cache == core::TextureCache::kL1 && executes("texture"))
      fail("reads textures through the L1, which the model does not know");
    const Table t =
        recording_.events(kernel_.index, "cache", "memory", {"address", "unit", "cache", "result"});
    const bool has_sectors = recording_.has_event_column(kernel_.index, "cache", "sectors");
    if (!has_sectors && m.l1.sector != m.l1.line)
      fail("its L1 fetches sectors, which this recording does not name; simulate the run again");
    Table asked;
    if (has_sectors) asked = recording_.events(kernel_.index, "cache", "memory", {"sectors"});
    const uint64_t whole = (uint64_t{1} << line_ / kSectorOfMask) - 1;
    of_sm_.resize(static_cast<size_t>(m.gpu.sms));
    for (uint64_t i = 0; i < t.rows; ++i) {
      if (t["cache"][i] != kFirstLevel ||
          t["result"][i] == static_cast<uint64_t>(core::CacheResult::kReservationFail))
        continue;
      if (t["unit"][i] >= of_sm_.size()) fail("events/cache names an SM that the machine does not have");
      const uint64_t sectors = has_sectors ? asked["sectors"][i] & whole : whole;
      of_sm_[t["unit"][i]].push_back(t["address"][i] / line_ * line_ + sectors);
    }
  }

  [[nodiscard]] bool executes(std::string_view name) const {
    const auto column = kernel_.per_pc.texts.find("class");
    if (column == kernel_.per_pc.texts.end()) return false;
    const std::vector<uint64_t>& executed = kernel_.per_pc["executed"];
    for (size_t pc = 0; pc < column->second.size(); ++pc)
      if (column->second[pc] == name && executed[pc] != 0) return true;
    return false;
  }

  /// The class of an operation that goes to global or local memory; empty if it does not.
  [[nodiscard]] std::string_view memory_class(uint64_t pc) const {
    const auto column = kernel_.per_pc.texts.find("class");
    if (column == kernel_.per_pc.texts.end() || pc >= column->second.size())
      fail("per_pc has no class of an access");
    const std::string& name = column->second[pc];
    return name.ends_with("_global") || name.ends_with("_local") ? std::string_view(name)
                                                                 : std::string_view();
  }

  /// What several schedulers issue in one cycle is recorded as it completes, and asks the cache as it was
  /// issued: in the order in which most accesses find their lines among those that the cache was asked for
  /// from row `next` on.
  void put_in_order(std::span<uint64_t> accesses, const Table& t, size_t next) const {
    const std::vector<uint64_t>& lines = of_sm_[t["sm"][accesses.front()]];
    std::vector<uint64_t> order(accesses.begin(), accesses.end()), best = order;
    size_t most = 0;
    const auto search = [&](const auto& self, size_t placed, size_t row) -> bool {
      if (placed > most) most = placed, best = order;
      for (size_t k = placed; k < order.size(); ++k) {
        const uint64_t i = order[k];
        if (row >= lines.size() || lines[row] / line_ != t["address"][i] / line_ ||
            memory_class(t["pc"][i]).empty())
          continue;
        std::swap(order[placed], order[k]);
        if (self(self, placed + 1, row + t["transactions"][i])) return true;
        std::swap(order[placed], order[k]);
      }
      return placed == order.size();
    };
    search(search, 0, next);
    std::ranges::copy(best, accesses.begin());
  }

  void read_accesses() {
    const Table t = recording_.events(
        kernel_.index, "memory", "memory",
        {"issue", "complete", "address", "block", "pc", "bytes", "sm", "warp", "transactions", "kind"});
    blocks_ = 0;
    warps_ = static_cast<uint32_t>(recording_.attribute(kernel_.index, "warps_per_block"));
    const Table blocks = recording_.events(kernel_.index, "block", "memory", {"block", "start", "end"});
    if (warps_ == 0 || blocks.rows == 0) fail("has no blocks");
    blocks_ = blocks.rows;
    start_.assign(blocks_, 0);
    for (uint64_t i = 0; i < blocks.rows; ++i) {
      if (blocks["block"][i] >= blocks_) fail("events/block numbers a block that the kernel does not have");
      start_[blocks["block"][i]] = blocks["start"][i];
    }
    of_warp_.resize(blocks_ * warps_);
    slots_.resize(blocks_);
    std::vector<uint64_t> order(t.rows);
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::ranges::stable_sort(order, {}, [&](uint64_t i) { return std::pair(t["sm"][i], t["issue"][i]); });
    // Which slots of its SM a block's warps have: the first warp has the lowest.
    for (const uint64_t i : order) {
      if (t["block"][i] >= blocks_ || t["sm"][i] >= of_sm_.size())
        fail("events/memory names a block or SM that the kernel does not have");
      std::vector<uint64_t>& slots = slots_[t["block"][i]];
      const auto at = std::ranges::lower_bound(slots, t["warp"][i]);
      if (at == slots.end() || *at != t["warp"][i]) slots.insert(at, t["warp"][i]);
    }
    std::vector<size_t> next(of_sm_.size(), 0);
    for (size_t k = 0; k < order.size(); ++k) {
      const auto issued = [&](size_t o) { return std::pair(t["sm"][order[o]], t["issue"][order[o]]); };
      if (k == 0 || issued(k) != issued(k - 1)) {
        size_t end = k + 1;
        while (end < order.size() && issued(end) == issued(k)) ++end;
        // More than all schedulers of an SM can issue in a cycle are of a damaged file, and have many orders.
        if (end - k > 1 && end - k <= kMostAtOnce)
          put_in_order(std::span(order).subspan(k, end - k), t, next[t["sm"][order[k]]]);
      }
      const uint64_t i = order[k];
      const std::string_view name = memory_class(t["pc"][i]);
      if (name.empty()) continue;
      const uint64_t sm = t["sm"][i], block = t["block"][i];
      const std::vector<uint64_t>& lines = of_sm_[sm];
      Access a;
      a.issue = t["issue"][i], a.complete = t["complete"][i], a.pc = t["pc"][i];
      a.kind = static_cast<core::AccessKind>(t["kind"][i]);
      a.local = name.ends_with("_local");
      a.count = t["transactions"][i];
      // Loads that ask past the cache leave no rows.
      a.cached = next[sm] < lines.size() && lines[next[sm]] / line_ == t["address"][i] / line_;
      if (a.cached) {
        if (a.count == 0 || lines.size() - next[sm] < a.count)
          fail("events/cache and events/memory do not agree");
        a.first = lines_.size();
        lines_.insert(lines_.end(), lines.begin() + static_cast<ptrdiff_t>(next[sm]),
                      lines.begin() + static_cast<ptrdiff_t>(next[sm] + a.count));
        next[sm] += a.count;
      } else {
        a.first = lines_.size();
        a.count = 1;
        lines_.push_back(past_the_cache(t["address"][i], t["bytes"][i]));
      }
      const auto rank = static_cast<uint64_t>(std::ranges::lower_bound(slots_[block], t["warp"][i]) -
                                              slots_[block].begin());
      if (rank >= warps_) fail("events/memory has more warps of a block than the kernel");
      of_warp_[block * warps_ + rank].push_back(a);
    }
    for (size_t sm = 0; sm < of_sm_.size(); ++sm)
      if (next[sm] != of_sm_[sm].size()) fail("events/cache and events/memory do not agree");
  }

  /// A transaction of a load whose lines are not recorded: as many sectors of its first line as its lanes ask
  /// for.
  [[nodiscard]] uint64_t past_the_cache(uint64_t address, uint64_t bytes) const {
    const uint64_t first = address % line_ / kSectorOfMask, sectors = line_ / kSectorOfMask;
    const uint64_t last = std::min(sectors, first + std::max<uint64_t>(1, bytes / kSectorOfMask));
    return address / line_ * line_ + ((uint64_t{1} << last) - (uint64_t{1} << first));
  }

  void read_barriers() {
    const Table t = recording_.events(kernel_.index, "phase", "summary", {"block", "end"});
    barriers_.resize(blocks_);
    for (uint64_t i = 0; i < t.rows; ++i) {
      if (t["block"][i] >= blocks_) fail("events/phase names a block that the kernel does not have");
      barriers_[t["block"][i]].push_back(t["end"][i]);
    }
    // The last one ends with the block.
    for (std::vector<uint64_t>& ends : barriers_) {
      std::ranges::sort(ends);
      if (!ends.empty()) ends.pop_back();
    }
  }

  /// Whether an access waits for a load before it: in no case it was issued before that had its data.
  void find_dependences() {
    for (const std::vector<Access>& warp : of_warp_)
      for (size_t i = 0; i < warp.size(); ++i)
        for (size_t k = i > kWindow ? i - kWindow : 0; k < i; ++k) {
          if (warp[k].kind == core::AccessKind::kStore) continue;
          auto [at, is_new] = waits_.try_emplace(pair_of(warp[k].pc, warp[i].pc), true);
          at->second = at->second && warp[i].issue >= warp[k].complete;
        }
  }
  [[nodiscard]] bool waits(const Access& before, const Access& after) const {
    return before.kind != core::AccessKind::kStore && waits_.at(pair_of(before.pc, after.pc));
  }

  /// Time from an access, or from the data that the next one waits for, to the next: the least there was.
  void find_gaps() {
    for (uint64_t w = 0; w < of_warp_.size(); ++w) {
      const std::vector<Access>& warp = of_warp_[w];
      for (size_t i = 0; i < warp.size(); ++i) {
        uint64_t from = i == 0 ? start_[w / warps_] : warp[i - 1].issue;
        for (size_t k = i > kWindow ? i - kWindow : 0; k < i; ++k)
          if (waits(warp[k], warp[i])) from = std::max(from, warp[k].complete);
        const uint64_t gap = warp[i].issue > from ? warp[i].issue - from : 0;
        const auto [at, is_new] =
            gaps_.try_emplace(pair_of(i == 0 ? kNoPc : warp[i - 1].pc, warp[i].pc), gap);
        at->second = std::min(at->second, gap);
      }
    }
  }

  /// What the operations that an access stands for take, in WarpStep::kWorkUnits.
  struct Work {
    uint64_t all = 0, own = 0;
  };

  /// Operations for each access: those that stand between it and its neighbours, by how often they ran.
  void find_work() {
    const std::vector<uint64_t>& executed = kernel_.per_pc["executed"];
    std::vector<uint64_t> memory;
    for (uint64_t pc = 0; pc < executed.size(); ++pc)
      if (executed[pc] != 0 && !memory_class(pc).empty()) memory.push_back(pc);
    std::vector<std::vector<uint64_t>> operations(executed.size());  ///< their PCs
    for (uint64_t pc = 0; pc < executed.size() && !memory.empty(); ++pc) {
      const auto next = std::ranges::lower_bound(memory, pc);
      const uint64_t after = next == memory.end() ? memory.back() : *next;
      const uint64_t before = next == memory.begin() ? memory.front() : *(next - 1);
      const auto unlike = [&](uint64_t other) {
        return executed[pc] > executed[other] ? executed[pc] - executed[other]
                                              : executed[other] - executed[pc];
      };
      operations[unlike(before) < unlike(after) ? before : after].push_back(pc);
    }
    std::string problem;
    const comp::TimingTables tables = comp::build_timing(recording_.machine(), problem);
    if (!problem.empty()) fail(problem);
    work_.assign(executed.size(), {});
    for (const uint64_t pc : memory) work_[pc] = work_of(operations[pc], executed[pc], tables);
  }

  /// Of the operations at these PCs, for each of so many accesses.
  [[nodiscard]] Work work_of(std::span<const uint64_t> pcs, uint64_t accesses,
                             const comp::TimingTables& tables) const {
    const core::MachineConfig::Scheduler& scheduler = recording_.machine().scheduler;
    const std::vector<std::string>& classes = kernel_.per_pc.texts.at("class");
    double issued = 0;
    std::vector<double> taken(tables.shared_pipes + tables.own_pipes, 0);  ///< core cycles
    for (const uint64_t pc : pcs) {
      const auto times = static_cast<double>(kernel_.per_pc["executed"][pc]);
      issued +=
          times * static_cast<double>(scheduler.issue_cycles) / static_cast<double>(scheduler.issue_width);
      const std::optional<isa::OpClass> c = class_of(classes[pc]);
      if (!c) continue;
      const comp::ClassTiming& timing = tables.of_scheduler.front()[*c];
      const int choice = taken[timing.pipe[0]] <= taken[timing.pipe[1]] ? 0 : 1;
      taken[timing.pipe[choice]] += times * timing.interval[choice];
    }
    const auto own_pipes = taken.begin() + tables.shared_pipes;
    double own = issued, all = 0;
    for (auto t = own_pipes; t != taken.end(); ++t) own = std::max(own, *t);
    for (auto t = taken.begin(); t != own_pipes; ++t) all = std::max(all, *t);
    all = std::max(all, own / static_cast<double>(scheduler.count));
    const double unit = static_cast<double>(WarpStep::kWorkUnits) / static_cast<double>(accesses);
    return {static_cast<uint64_t>(all * unit), static_cast<uint64_t>(own * unit)};
  }

  void encode(uint64_t block, const std::vector<Access>& warp, WarpEncoder& out) const {
    const std::vector<uint64_t>& barriers = barriers_[block];
    size_t opened = 0;
    WarpStep step;
    std::vector<size_t> loads;  ///< that nothing has waited for
    uint32_t issued_loads = 0;
    std::vector<uint32_t> number(warp.size(), 0);
    const auto plain = [&](WarpStep::Kind kind, uint32_t back) {
      WarpStep s;
      s.kind = kind;
      s.back = back;
      out.append(s);
    };
    for (size_t i = 0; i < warp.size(); ++i) {
      const Access& a = warp[i];
      for (; opened < barriers.size() && barriers[opened] <= a.issue; ++opened)
        plain(WarpStep::Kind::kBarrier, 0);
      std::erase_if(loads, [&](size_t k) {
        if (i - k > kWindow || !waits(warp[k], a)) return i - k > kWindow;
        plain(WarpStep::Kind::kWait, issued_loads - 1 - number[k]);
        return true;
      });
      step.kind = WarpStep::Kind::kAccess;
      step.cycles = gaps_.at(pair_of(i == 0 ? kNoPc : warp[i - 1].pc, a.pc));
      step.work = std::min(work_[a.pc].all, step.cycles * WarpStep::kWorkUnits);
      step.own = std::min(work_[a.pc].own, step.cycles * WarpStep::kWorkUnits);
      step.access = a.kind == core::AccessKind::kStore    ? WarpStep::Access::kStore
                    : a.kind == core::AccessKind::kAtomic ? WarpStep::Access::kAtomic
                                                          : WarpStep::Access::kLoad;
      step.local = a.local;
      step.bypasses = !a.cached;
      step.returns = a.kind != core::AccessKind::kStore;
      step.pc = static_cast<uint32_t>(a.pc);
      // Each transaction is a lane's.
      step.by_lines = true;
      const size_t count = std::min<size_t>(a.count, WarpStep::kLanes);
      step.lanes = static_cast<uint32_t>((uint64_t{1} << count) - 1);
      for (size_t l = 0; l < count; ++l) step.address[l] = lines_[a.first + l];
      out.append(step);
      if (!step.returns) continue;
      number[i] = issued_loads++;
      loads.push_back(i);
    }
    for (; opened < barriers.size(); ++opened) plain(WarpStep::Kind::kBarrier, 0);
    plain(WarpStep::Kind::kEnd, 0);
  }

  const Recording& recording_;
  const KernelRecord& kernel_;
  uint64_t line_ = 128, blocks_ = 0;
  uint32_t warps_ = 0;
  // Transactions: the address of a line, and a bit for each of its sectors that is asked for.
  std::vector<std::vector<uint64_t>> of_sm_;  ///< of each L1
  std::vector<uint64_t> lines_;
  std::vector<std::vector<Access>> of_warp_;             ///< by block and warp of the block
  std::vector<std::vector<uint64_t>> slots_, barriers_;  ///< by block
  std::vector<uint64_t> start_;
  std::vector<Work> work_;  ///< by PC of an access
  std::unordered_map<uint64_t, bool> waits_;
  std::unordered_map<uint64_t, uint64_t> gaps_;
};

}  // namespace

WarpTrace recorded_warp_trace(const Recording& recording, const KernelRecord& kernel) {
  return Reader(recording, kernel).trace();
}

}  // namespace gpusim::analysis
