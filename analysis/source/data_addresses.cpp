#include "analysis/source/data_addresses.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "analysis/source/mixed_numbers.h"
#include "analysis/source/ptx_registers.h"
#include "analysis/source/ptx_statement.h"
#include "analysis/source/register_circles.h"

namespace gpusim::analysis {
namespace {

// Constants can be of any size, as those of random numbers are: sums wrap around as the machine's do.
int64_t wrapped_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapped_difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
uint64_t magnitude(int64_t a) {
  return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

/// Loads of what threads or the host have stored, other than parameters, constants and a thread's own memory.
bool loads_data(const PtxStatement& s) {
  constexpr std::array<std::string_view, 4> kLoads{"ld", "ldu", "tex", "tld4"};
  if (!one_of(s.stem, kLoads)) return false;
  return std::ranges::none_of(std::array<std::string_view, 3>{".param", ".const", ".local"},
                              [&](std::string_view space) { return s.opcode.find(space) != s.opcode.npos; });
}

/// Whether it adds, or hands a value on.
bool adds(const PtxStatement& s) {
  constexpr std::array<std::string_view, 4> kSums{"add", "sub", "mov", "cvt"};
  return one_of(s.stem, kSums);
}

std::vector<PtxStatement> parsed(const std::vector<std::string>& statements) {
  std::vector<PtxStatement> found;
  for (const std::string& text : statements) found.push_back(parse_statement(text));
  return found;
}

/// Bytes of a thread's access: 8 of "ld.global.v2.f32".
uint64_t access_bytes(const PtxStatement& s) {
  constexpr std::array<std::string_view, 4> kAccesses{"ld", "st", "atom", "red"};
  if (s.address.empty() || !one_of(s.stem, kAccesses)) return 0;
  const std::string_view type = s.opcode.substr(s.opcode.rfind('.') + 1);
  const size_t digits = type.find_first_of("0123456789");
  uint64_t bits = 0;
  if (digits == std::string_view::npos) return 0;
  std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  const uint64_t words = s.opcode.find(".v2.") != s.opcode.npos   ? 2
                         : s.opcode.find(".v4.") != s.opcode.npos ? 4
                         : s.opcode.find(".v8.") != s.opcode.npos ? 8
                                                                  : 1;
  return words * bits / 8;
}

class DataFlow {
 public:
  /// `one_thread`: what its number and its loads say is a value like a parameter's, and loops alone change
  /// anything.
  explicit DataFlow(const std::vector<std::string>& statements, bool one_thread = false)
      : one_thread_(one_thread), statements_(parsed(statements)), sums_(statements_, adds) {
    for (size_t i = 0; i < statements_.size(); ++i)
      for (const std::string_view r : statements_[i].results) definitions_[r].push_back(i);
    find_data();
    of_loop_ = follow([&](std::string_view r) { return defined(r) > 1; });
    wanders_ = follow([&](std::string_view r) { return wanders(r); });
    of_block_ = follow([](std::string_view r) { return r == "%ctaid"; });
    of_rows_ = follow_arguments({"%tid.y", "%tid.z"});
    of_lane_ = follow_arguments({"%tid.x", "%laneid"});
    find_places();
    find_fractions();
    find_flat();
    mixed_ = mixed_numbers(statements_, of_thread_);
  }
  [[nodiscard]] AddressOrigin origin(const PtxStatement& access) const;

 private:
  /// A value: `base`, which is the same for all threads, and `offset`, and a multiple of `stride`.
  struct Place {
    uint64_t stride = 0;
    int64_t offset = 0;
    std::string base;
    bool operator==(const Place&) const = default;
    [[nodiscard]] bool constant() const { return stride == 0 && base.empty(); }
  };
  static Place unknown() { return {1, 0, {}}; }
  static Place uniform(std::string_view name) { return {0, 0, std::string(name)}; }

  [[nodiscard]] size_t defined(std::string_view r) const {
    const auto at = definitions_.find(r);
    return at == definitions_.end() ? 0 : at->second.size();
  }
  void find_data();
  /// Adds registers that follow from loaded values, by all statements but those `left_out`.
  void find_data(const std::vector<bool>& left_out, std::set<std::string_view>& data) const;
  void find_fractions();
  /// Registers that follow from one of these.
  [[nodiscard]] std::set<std::string_view> follow_arguments(
      std::initializer_list<std::string_view> names) const;
  /// Whether a definition of a register counts it up: it is the register's last value, and something added.
  [[nodiscard]] bool counts_up(size_t definition, std::string_view r) const;
  /// Whether its definitions add numbers of both signs to its last value.
  [[nodiscard]] bool wanders(std::string_view r) const;
  /// Registers that follow from others by operations, of which `first` says where that begins.
  template <typename First>
  [[nodiscard]] std::set<std::string_view> follow(const First& first) const;

  void find_flat();
  /// "%tid.x" for a copy of it.
  [[nodiscard]] std::string_view copied(std::string_view operand) const;
  /// x for blockIdx.x * blockDim.x.
  [[nodiscard]] char start_of_block(std::string_view operand) const;
  [[nodiscard]] char start_of_block(const PtxStatement& s) const;
  [[nodiscard]] bool same_for_all(std::string_view operand) const;
  [[nodiscard]] uint64_t flat(std::string_view operand) const;
  [[nodiscard]] uint64_t flat(const PtxStatement& s) const;

  void find_places();
  [[nodiscard]] std::optional<Place> place_of(std::string_view operand) const;
  [[nodiscard]] Place place(const PtxStatement& access) const;
  [[nodiscard]] std::optional<Place> result_of(const PtxStatement& s) const;
  static Place reduced(Place p);
  static Place sum(const Place& a, const Place& b);
  static Place product(const Place& a, const Place& b, std::string_view name);
  static Place either(const Place& a, const Place& b);

  bool one_thread_;
  std::vector<PtxStatement> statements_;
  RegisterCircles sums_;  ///< by statements that add
  std::map<std::string_view, std::vector<size_t>> definitions_;
  std::set<std::string_view> data_, begins_of_data_, of_loop_, wanders_, of_block_, of_rows_, of_lane_,
      of_fraction_;
  std::map<std::string_view, Place> places_;
  std::set<std::string_view> of_thread_, mixed_;
  /// Registers that hold a thread's number in a row of the grid, times so much, and what is the same for all.
  std::map<std::string_view, uint64_t> flat_;
};

bool DataFlow::counts_up(size_t definition, std::string_view r) const {
  const PtxStatement& s = statements_[definition];
  return adds(s) && sums_.closes(s, r);
}

bool DataFlow::wanders(std::string_view r) const {
  const auto at = definitions_.find(r);
  if (at == definitions_.end() || at->second.size() < 2) return false;
  bool up = false, down = false;
  for (const size_t d : at->second) {
    const PtxStatement& s = statements_[d];
    if (s.stem != "add" || !counts_up(d, r)) continue;
    for (const std::string_view a : s.arguments) {
      if (a.empty()) continue;  // nothing between two commas
      const bool negative = a.starts_with('-');
      if (negative || std::isdigit(static_cast<unsigned char>(a.front())) != 0) (negative ? down : up) = true;
    }
  }
  return up && down;
}

void DataFlow::find_data() {
  // What is counted up goes on from wherever it began: it is of data only if what is added is.
  std::vector<bool> begins(statements_.size(), false);
  for (const auto& [r, where] : definitions_) {
    if (where.size() < 2) continue;
    std::vector<size_t> others;
    for (const size_t d : where)
      if (!counts_up(d, r)) others.push_back(d);
    if (others.size() < where.size())
      for (const size_t d : others) begins[d] = true;
  }
  find_data(begins, data_);
  find_data(std::vector<bool>(statements_.size(), false), begins_of_data_);
}

void DataFlow::find_data(const std::vector<bool>& left_out, std::set<std::string_view>& data) const {
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < statements_.size(); ++i) {
      const PtxStatement& s = statements_[i];
      if (left_out[i] || !(loads_data(s) ||
                           (!hides_its_source(s) && std::ranges::any_of(s.operands, [&](std::string_view r) {
                             return data.contains(r);
                           }))))
        continue;
      for (const std::string_view r : s.results) more |= data.insert(r).second;
    }
  }
}

template <typename First>
std::set<std::string_view> DataFlow::follow(const First& first) const {
  std::set<std::string_view> found;
  const auto is = [&](std::string_view r) { return first(r) || found.contains(r); };
  for (bool more = true; more;) {
    more = false;
    for (const PtxStatement& s : statements_)
      if (!hides_its_source(s) && std::ranges::any_of(s.operands, is))
        for (const std::string_view r : s.results) more |= found.insert(r).second;
  }
  for (const auto& [r, where] : definitions_)
    if (first(r)) found.insert(r);
  return found;
}

void DataFlow::find_fractions() {
  // "cvt.rzi.ftz.s32.f32"
  constexpr std::array<std::string_view, 4> kWhole{".s32.f", ".u32.f", ".s64.f", ".u64.f"};
  const auto rounds = [&](const PtxStatement& s) {
    return s.stem == "cvt" && std::ranges::any_of(kWhole, [&](std::string_view types) {
             return s.opcode.find(types) != s.opcode.npos;
           });
  };
  std::set<std::string_view> rounded;
  for (const PtxStatement& s : statements_)
    if (rounds(s))
      for (const std::string_view r : s.results)
        if (const auto place = places_.find(r); place == places_.end() || place->second.stride != 0)
          rounded.insert(r);
  if (!rounded.empty()) of_fraction_ = follow([&](std::string_view r) { return rounded.contains(r); });
}

std::set<std::string_view> DataFlow::follow_arguments(std::initializer_list<std::string_view> names) const {
  std::set<std::string_view> first;
  for (const PtxStatement& s : statements_)
    if (std::ranges::any_of(s.arguments,
                            [&](std::string_view a) { return std::ranges::count(names, a) > 0; }))
      first.insert(s.results.begin(), s.results.end());
  if (first.empty()) return {};
  return follow([&](std::string_view r) { return first.contains(r); });
}

DataFlow::Place DataFlow::reduced(Place p) {
  if (p.stride > 0) {
    const uint64_t rest = magnitude(p.offset) % p.stride;
    p.offset = static_cast<int64_t>(p.offset < 0 && rest != 0 ? p.stride - rest : rest);
  }
  return p;
}

DataFlow::Place DataFlow::sum(const Place& a, const Place& b) {
  Place p{std::gcd(a.stride, b.stride), wrapped_sum(a.offset, b.offset), a.base};
  if (!b.base.empty())
    p.base = a.base.empty() ? b.base : std::min(a.base, b.base) + " + " + std::max(a.base, b.base);
  return reduced(p);
}

DataFlow::Place DataFlow::product(const Place& a, const Place& b, std::string_view name) {
  if (a.stride == 0 && b.stride == 0 && !(a.constant() && b.constant())) return uniform(name);
  if (!a.constant() && !b.constant()) return unknown();
  const Place& value = a.constant() ? b : a;
  const int64_t by = a.constant() ? a.offset : b.offset;
  if (!value.base.empty()) return unknown();
  constexpr uint64_t kMost = uint64_t{1} << 24;  // no records are larger
  if (magnitude(by) > kMost || value.stride > kMost || magnitude(value.offset) > kMost) return unknown();
  return reduced({value.stride * magnitude(by), value.offset * by, {}});
}

DataFlow::Place DataFlow::either(const Place& a, const Place& b) {
  if (a.base != b.base) return unknown();
  return reduced({std::gcd(std::gcd(a.stride, b.stride), magnitude(wrapped_difference(a.offset, b.offset))),
                  a.offset, a.base});
}

std::optional<DataFlow::Place> DataFlow::place_of(std::string_view operand) const {
  if (operand.empty()) return unknown();
  if (operand.front() != '%') {
    // A number, or a name: an array's.
    int64_t value = 0;
    const bool hex = operand.starts_with("0x");
    const char* end = operand.data() + operand.size();
    const auto read = std::from_chars(operand.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    if (read.ec == std::errc() && (read.ptr == end || *read.ptr == 'U')) return Place{0, value, {}};
    return uniform(operand);
  }
  const std::vector<std::string_view> r = registers_in(operand);
  if (defined(r.front()) > 0) {
    const auto at = places_.find(r.front());
    return at == places_.end() ? std::nullopt : std::optional(at->second);
  }
  constexpr std::array<std::string_view, 7> kOfThread{"%tid",  "%ctaid", "%laneid",   "%warpid",
                                                      "%smid", "%clock", "%clusterid"};
  return !one_thread_ && one_of(r.front(), kOfThread) ? unknown() : uniform(operand);
}

std::optional<DataFlow::Place> DataFlow::result_of(const PtxStatement& s) const {
  const std::string_view name = s.results.front();
  if (!s.address.empty())
    return s.opcode.find(".param") != s.opcode.npos ? uniform(s.address)
           : one_thread_                            ? uniform(name)
                                                    : unknown();
  if (s.results.size() > 1) return unknown();
  std::vector<Place> p;
  for (const std::string_view a : s.arguments) {
    const std::optional<Place> place = place_of(a);
    if (!place) return std::nullopt;
    p.push_back(*place);
  }
  const size_t n = p.size();
  if (n == 1 && (s.stem == "mov" || s.stem == "cvt" || s.stem == "cvta")) return p[0];
  if (n == 2 && s.stem == "add") return sum(p[0], p[1]);
  if (n == 2 && s.stem == "sub" && p[1].base.empty())
    return sum(p[0], {p[1].stride, wrapped_difference(0, p[1].offset), {}});
  if (n == 2 && s.stem == "mul" && s.opcode.find(".hi") == s.opcode.npos) return product(p[0], p[1], name);
  if (n == 3 && s.stem == "mad" && s.opcode.find(".hi") == s.opcode.npos)
    return sum(product(p[0], p[1], name), p[2]);
  if (n == 2 && s.stem == "shl" && p[1].constant() && p[1].offset >= 0 && p[1].offset < 24)
    return product(p[0], {0, int64_t{1} << p[1].offset, {}}, name);
  // Bits that are known to be 0 are set by what is added.
  if (n == 2 && s.stem == "or" && p[1].constant() && p[0].base.empty() && p[0].stride > 0 &&
      p[1].offset > 0) {
    const uint64_t low = p[0].stride & (~p[0].stride + 1);
    if (p[0].offset == 0 && static_cast<uint64_t>(p[1].offset) < low) return sum(p[0], p[1]);
  }
  // Compilers add to an address so if it is aligned: the array is the same.
  if (n == 2 && s.stem == "or" && s.opcode.ends_with("64") && p[0].base.empty() != p[1].base.empty())
    return sum(p[0], p[1]);
  if (n == 3 && s.stem == "selp") return either(p[0], p[1]);
  return std::ranges::all_of(p, [](const Place& v) { return v.stride == 0; }) ? uniform(name) : unknown();
}

void DataFlow::find_places() {
  for (bool more = true; more;) {
    more = false;
    for (const PtxStatement& s : statements_) {
      if (s.results.empty()) continue;
      const std::optional<Place> found = result_of(s);
      if (!found) continue;
      for (const std::string_view r : s.results) {
        const auto [at, first] = places_.try_emplace(r, *found);
        const Place now = first ? *found : either(at->second, *found);
        more |= first || !(now == at->second);
        at->second = now;
      }
    }
  }
}

std::string_view DataFlow::copied(std::string_view operand) const {
  constexpr std::array<std::string_view, 2> kCopies{"mov", "cvt"};
  for (size_t steps = 0; steps < definitions_.size(); ++steps) {
    const auto at = definitions_.find(operand);
    if (at == definitions_.end() || at->second.size() != 1) break;
    const PtxStatement& s = statements_[at->second.front()];
    if (!one_of(s.stem, kCopies) || s.arguments.size() != 1) break;
    operand = s.arguments.front();
  }
  return operand;
}

char DataFlow::start_of_block(const PtxStatement& s) const {
  constexpr std::array<std::string_view, 3> kProducts{"mul", "mul24", "mad"};
  if (!one_of(s.stem, kProducts) || s.arguments.size() < 2) return 0;
  const std::string_view a = copied(s.arguments[0]), b = copied(s.arguments[1]);
  const std::string_view block = a.starts_with("%ctaid.") ? a : b, size = a.starts_with("%ctaid.") ? b : a;
  return block.starts_with("%ctaid.") && size.starts_with("%ntid.") && block.back() == size.back()
             ? block.back()
             : '\0';
}

char DataFlow::start_of_block(std::string_view operand) const {
  const auto at = definitions_.find(copied(operand));
  if (at == definitions_.end() || at->second.size() != 1) return 0;
  const PtxStatement& s = statements_[at->second.front()];
  return s.stem == "mad" ? '\0' : start_of_block(s);
}

bool DataFlow::same_for_all(std::string_view operand) const {
  return std::ranges::none_of(registers_in(operand), [&](std::string_view r) {
    return of_thread_.contains(r) || data_.contains(r) || r == "%tid" || r == "%ctaid" || r == "%laneid";
  });
}

uint64_t DataFlow::flat(std::string_view operand) const {
  const auto at = flat_.find(operand);
  return at == flat_.end() ? 0 : at->second;
}

uint64_t DataFlow::flat(const PtxStatement& s) const {
  const auto& a = s.arguments;
  if (!s.address.empty() || s.opcode.find(".hi") != s.opcode.npos) return 0;
  const auto is_thread = [&](std::string_view operand, char of) {
    return of != 0 && copied(operand) == std::string("%tid.") + of;
  };
  const auto number = [&](std::string_view operand) -> uint64_t {
    const std::optional<Place> p = place_of(operand);
    return p && p->constant() && p->offset > 0 ? static_cast<uint64_t>(p->offset) : 0;
  };
  if (a.size() == 1 && (s.stem == "mov" || s.stem == "cvt" || s.stem == "cvta")) return flat(a[0]);
  if (s.stem == "add" && a.size() == 2) {
    if (is_thread(a[1], start_of_block(a[0])) || is_thread(a[0], start_of_block(a[1]))) return 1;
    return same_for_all(a[1]) ? flat(a[0]) : same_for_all(a[0]) ? flat(a[1]) : 0;
  }
  if (s.stem == "sub" && a.size() == 2) return same_for_all(a[1]) ? flat(a[0]) : 0;
  if ((s.stem == "mul" || s.stem == "mul24") && a.size() == 2) return flat(a[0]) * number(a[1]);
  if (s.stem == "shl" && a.size() == 2)
    return number(a[1]) > 0 && number(a[1]) < 24 ? flat(a[0]) << number(a[1]) : 0;
  if (s.stem == "mad" && a.size() == 3)
    return is_thread(a[2], start_of_block(s)) ? 1 : same_for_all(a[2]) ? flat(a[0]) * number(a[1]) : 0;
  return 0;
}

void DataFlow::find_flat() {
  of_thread_ = follow([](std::string_view r) { return r == "%tid" || r == "%ctaid" || r == "%laneid"; });
  for (bool more = true; more;) {
    more = false;
    for (const PtxStatement& s : statements_)
      if (s.results.size() == 1)
        if (const uint64_t bytes = flat(s); bytes > 0)
          more |= flat_.try_emplace(s.results.front(), bytes).second;
  }
  // Of a register with several definitions, all are to agree.
  for (bool fewer = true; fewer;) {
    fewer = false;
    for (const PtxStatement& s : statements_)
      for (const std::string_view r : s.results)
        if (const auto at = flat_.find(r); at != flat_.end() && flat(s) != at->second) {
          flat_.erase(at);
          fewer = true;
        }
  }
}

DataFlow::Place DataFlow::place(const PtxStatement& access) const {
  // "%rd5", "%rd5+28", "%rd5+-8" or "array+4".
  const size_t plus = std::min(access.address.find('+'), access.address.size());
  std::optional<Place> place = place_of(trimmed(access.address.substr(0, plus)));
  if (place && plus < access.address.size())
    if (const std::optional<Place> added = place_of(trimmed(access.address.substr(plus + 1))))
      place = sum(*place, *added);
  return place.value_or(unknown());
}

AddressOrigin DataFlow::origin(const PtxStatement& access) const {
  AddressOrigin o;
  const std::vector<std::string_view> registers = registers_in(access.address);
  const auto any = [&](const std::set<std::string_view>& of) {
    return std::ranges::any_of(registers, [&](std::string_view r) { return of.contains(r); });
  };
  o.of_data = any(data_);
  o.begins_of_data = !o.of_data && any(begins_of_data_) && !any(of_thread_);
  o.of_fraction = any(of_fraction_);
  o.of_mixture = any(mixed_);
  o.of_loop = any(of_loop_);
  o.wanders = any(wanders_);
  o.of_block = any(of_block_);
  o.of_rows = any(of_rows_);
  o.of_lane = any(of_lane_);
  o.bytes = access_bytes(access);
  o.contiguous = registers.size() == 1 && o.bytes > 0 && flat(registers.front()) == o.bytes;
  const Place p = place(access);
  o.stride = p.stride;
  o.offset = static_cast<uint64_t>(std::max<int64_t>(0, p.offset));
  o.base = p.base;
  return o;
}

}  // namespace

std::vector<AddressOrigin> address_origins(std::vector<std::string> statements,
                                           const std::vector<std::string>& operations) {
  // Several operations can be of one statement.
  std::set<std::string> seen;
  std::erase_if(statements, [&](const std::string& text) { return !seen.insert(text).second; });
  const DataFlow program(statements), of_one_thread(statements, true);
  std::map<std::string_view, AddressOrigin> known;
  std::vector<AddressOrigin> found;
  for (const std::string& operation : operations) {
    const auto [at, first] = known.try_emplace(operation);
    if (first) {
      at->second = program.origin(parse_statement(operation));
      const AddressOrigin turns = of_one_thread.origin(parse_statement(operation));
      at->second.turn = turns.stride;
      at->second.place_in_turn = turns.offset;
    }
    found.push_back(at->second);
  }
  return found;
}

std::vector<bool> addresses_of_data(std::vector<std::string> statements,
                                    const std::vector<std::string>& operations) {
  std::vector<bool> found;
  for (const AddressOrigin& o : address_origins(std::move(statements), operations))
    found.push_back(o.of_data);
  return found;
}

}  // namespace gpusim::analysis
