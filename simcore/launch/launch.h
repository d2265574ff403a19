// Launch descriptions: which kernels run, on which buffers, and what must come out (docs/launch_file.md).
// Read from the TOML file beside a PTX or built from command-line values. Everything is evaluated and bounded
// when it is loaded: afterwards only numbers are left. All functions throw InputError with all problems
// found, and nothing else.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "simcore/config/machine_config.h"
#include "simcore/launch/expression.h"
#include "simcore/launch/number.h"
#include "simcore/text/input_error.h"

namespace gpusim::core {

enum class ElementType : uint8_t {
  kU8,
  kS8,
  kB8,
  kU16,
  kS16,
  kB16,
  kU32,
  kS32,
  kB32,
  kU64,
  kS64,
  kB64,
  kF16,
  kBF16,
  kF32,
  kF64
};
[[nodiscard]] std::string_view element_type_name(ElementType t);
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name);
[[nodiscard]] uint32_t element_bytes(ElementType t);
[[nodiscard]] bool element_is_float(ElementType t);
[[nodiscard]] bool element_is_signed(ElementType t);

/// An element that holds the address of a buffer or variable: address(NAME) or address(NAME, BYTES).
struct AddressElement {
  uint64_t index = 0;
  std::string name;
  uint32_t target = 0;  ///< index into LaunchDescription::buffers
  uint64_t offset = 0;  ///< bytes behind its beginning
  Where where;
};
/// How a buffer's first content is made.
struct InitSpec {
  enum class Kind : uint8_t {
    kZeros,
    kFill,
    kIota,
    kUniform,
    kNormal,
    kRandint,
    kRowStarts,
    kArray,
    kNpy,
    kBin,
    kBytes
  };
  Kind kind = Kind::kZeros;
  bool given = false;  ///< false: nobody asked for these zeros, a host program would not have written them
  Number a, b;         ///< fill: a; iota: start, step; uniform/randint: low, high; normal: mean, deviation;
                       ///< row_starts: total
  std::vector<Number> values;             ///< kArray
  std::vector<AddressElement> addresses;  ///< kArray: elements of `values` (zeros there) that are addresses
  std::string file;                       ///< kNpy, kBin: path, folder included
  std::vector<std::byte> bytes;           ///< kBytes: the initial value in the PTX; zeros follow
};
/// What a launch file says of a variable and only its declaration can judge: bind_variables() does.
struct VariableText {
  bool has_type = false, has_count = false;
  Where type_where, count_where;
  std::string init;                                         ///< as written, if it is a string
  Where init_where;                                         ///< of its first character, or of the array
  std::vector<std::pair<uint32_t, uint32_t>> value_places;  ///< line and column, of an array
  std::string folder;                                       ///< relative file names start here
  bool allow_files = true;
  std::string requested_by;  ///< no [[variable]] has it, but this names it: "[[expect]]"
};
/// A buffer, or a module-scope variable of the PTX, which the launch sets, compares or copies like one.
struct BufferSpec {
  std::string name;
  ElementType type = ElementType::kF32;  ///< of a variable: known once it is bound, as is `count`
  uint64_t count = 0;
  InitSpec init;
  Where where;
  std::optional<VariableText> variable;  ///< given: a variable
  std::optional<uint64_t> address;       ///< in device memory; not given: where there is room
  Where address_where;
  [[nodiscard]] uint64_t bytes() const { return count * element_bytes(type); }
  /// For messages.
  [[nodiscard]] std::string_view kind() const { return variable ? "variable" : "buffer"; }
};
struct ArgumentSpec {
  enum class Kind : uint8_t { kBuffer, kNumber, kBytes, kTexture };
  Kind kind = Kind::kNumber;
  uint32_t buffer = 0;   ///< index into LaunchDescription::buffers
  uint32_t texture = 0;  ///< index into LaunchDescription::textures
  Number number;
  std::vector<std::byte> bytes;
  std::string text;  ///< as written, for messages
  Where where;
};
/// An expression that is worked out when its turn comes: it has the count of a loop, or elements of buffers.
struct LateExpression {
  std::string text;
  Where where;                ///< of its first character
  bool reads_memory = false;  ///< the host waits for what it reads
};
/// A number of a step that is one.
struct LateNumber {
  enum class Field : uint8_t {
    kGrid,
    kBlock,
    kCluster,
    kDynamicShared,
    kArgument,
    kOffset,
    kBytes,
    kFromOffset,
    kValue
  };
  Field field = Field::kArgument;
  uint32_t index = 0;         ///< dimension, or number of the argument
  int64_t low = 0, high = 0;  ///< what it may be; arguments: anything
  LateExpression expression;
};
struct LaunchSpec {
  std::string kernel;  ///< empty: the only entry of the PTX
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamic_shared = 0;
  uint32_t cluster[3] = {0, 0, 0};    ///< blocks of a cluster; 0: the launch does not say
  bool non_portable_cluster = false;  ///< it may have more than every machine with clusters holds
  uint32_t registers = 0;             ///< 0: estimate
  /// Registers per thread of the code that a GPU ran: as many warps are resident. Our own order of the
  /// operations may need more of them, which does not make it spill, as that code did not. 0: as `registers`
  uint32_t registers_taken = 0;
  uint32_t stack = 0;  ///< bytes of call stack per thread for recursion; 0: the default
  std::vector<ArgumentSpec> arguments;
  uint32_t repeat = 1;
  uint32_t stream = 0;
  ClockChoice clocks;  ///< while the kernel runs; 0: those of the run
  uint32_t order = 0;  ///< rank among all steps of the file
  Where where;
  Where kernel_where;            ///< of the kernel's name (or of the launch)
  std::optional<uint32_t> loop;  ///< index into LaunchDescription::loops: a step of its body
  std::vector<LateNumber> late;  ///< the numbers in their places stand for these
};
/// Part of a buffer, in bytes.
struct ByteRange {
  uint64_t offset = 0;
  std::optional<uint64_t> bytes;  ///< not given: to the end
  Where offset_where, bytes_where;
};
struct CopySpec {
  uint32_t buffer = 0;
  bool to_device = true;
  uint32_t stream = 0;
  uint32_t order = 0;
  Where where;
  ByteRange range;
  /// Content that arrives with the copy, as a buffer of that size; not given: only time passes.
  std::optional<BufferSpec> source;
  std::optional<uint32_t> from;  ///< or the buffer in device memory that it comes from
  uint64_t from_offset = 0;
  Where from_where;
  std::optional<uint32_t> loop;
  std::vector<LateNumber> late;
  /// It changes bytes in device memory.
  [[nodiscard]] bool moves_data() const { return source || from; }
};
/// Bytes that are filled with a pattern.
struct MemsetSpec {
  uint32_t buffer = 0;
  int64_t value = 0;
  uint32_t width = 1;  ///< bytes of the pattern
  ByteRange range;
  uint32_t stream = 0;
  uint32_t order = 0;
  Where where;
  std::optional<uint32_t> loop;
  std::vector<LateNumber> late;
};
/// What a host does between launches, on the contents of buffers (host_step.h).
enum class HostAction : uint8_t {
  kSwap,
  kCopy,
  kFill,
  kSet,
  kAdd,
  kScale,
  kAxpy,
  kDivide,
  kScanExclusive,
  kScanInclusive,
  kSum,
  kMin,
  kMax,
  kDifferences,
  kAccumulate,
  kCount,
  kSort
};
struct HostStepSpec {
  HostAction action = HostAction::kSwap;
  std::vector<uint32_t> buffers;        ///< in the order of the call
  std::vector<LateExpression> numbers;  ///< likewise
  std::string text;                     ///< as written
  uint32_t order = 0;
  Where where;
  std::optional<uint32_t> loop;
};
/// Steps that are repeated. The count of the iteration, from 0, is a number with the loop's name.
struct LoopSpec {
  std::string name;
  std::optional<uint32_t> parent;       ///< loop whose body it stands in
  std::optional<LateExpression> times;  ///< at most so many iterations; counted when the loop begins
  /// After an iteration: another one follows while it is true.
  struct Condition {
    LateExpression left, right;
    ComparisonParts::Relation relation = ComparisonParts::Relation::kUnequal;
    std::string text;
  };
  std::optional<Condition> condition;
  uint64_t most = 1'000'000;  ///< iterations; more is an error
  Where where;
};
enum class TextureAddress : uint8_t { kWrap, kMirror, kClamp, kBorder };
/// A texture in a buffer: a texture reference of the PTX has its name, or launches pass it as an object.
struct TextureSpec {
  std::string name;
  uint32_t buffer = 0;
  ElementType format = ElementType::kF32;  ///< of a channel
  uint32_t channels = 1;
  uint32_t dimensions = 1;
  bool array = false;  ///< has layers
  std::array<uint32_t, 3> size{1, 1, 1};
  uint32_t layers = 1;
  uint64_t pitch = 0;  ///< bytes from row to row
  bool linear_filter = false, normalized = false, normalized_float = false;
  std::array<TextureAddress, 3> address{TextureAddress::kClamp, TextureAddress::kClamp,
                                        TextureAddress::kClamp};
  Where where;
  [[nodiscard]] uint64_t texel_bytes() const { return uint64_t{channels} * element_bytes(format); }
};
struct ExpectSpec {
  enum class Kind : uint8_t { kFile, kValues, kReference };
  Kind kind = Kind::kValues;
  uint32_t buffer = 0;
  std::string file;  ///< path, folder included
  std::vector<Number> values;
  std::string reference;  ///< "matmul(A, B, N, N, N)"
  double rtol = 0, atol = 0;
  Where where;
  Where content_where;  ///< of the values or the file's name
};

struct LaunchDescription {
  std::string path;  ///< of the launch file; "command line" if there is none
  std::string text;  ///< full text as read, for the recorded file
  std::vector<std::pair<std::string, Number>> params;  ///< in file order, overrides applied
  std::vector<std::pair<std::string, double>> flops;   ///< [flops] keys; "total" is the application's count
  std::vector<BufferSpec> buffers;                     ///< and, behind them, variables
  std::vector<LaunchSpec> launches;
  std::vector<CopySpec> copies;
  std::vector<MemsetSpec> memsets;
  std::vector<HostStepSpec> host_steps;
  std::vector<LoopSpec> loops;
  std::vector<TextureSpec> textures;
  std::vector<ExpectSpec> expects;
  std::vector<std::string> link;       ///< further PTX files of the program: paths, folder included
  bool legacy_default_stream = false;  ///< stream 0 waits for all streams, and they for it
  uint64_t seed = 0;
  std::vector<std::string> warnings;
  [[nodiscard]] const BufferSpec* find_buffer(std::string_view name) const;
  /// Index of the variable of that name. One that is not listed yet is added: `requested_by` names it.
  uint32_t request_variable(const std::string& name, const Where& where, const std::string& requested_by);
  [[nodiscard]] const Number* find_param(std::string_view name) const;
  [[nodiscard]] uint64_t total_buffer_bytes() const;
  /// All launches are known before the first one runs.
  [[nodiscard]] bool has_fixed_launches() const { return loops.empty() && host_steps.empty() && !has_late(); }
  /// What the buffer first holds: its initial value, or, if it has none, what the first copy that brings all
  /// of it does.
  [[nodiscard]] const BufferSpec& first_content(uint32_t buffer) const;
  /// Files that initial values and copies name.
  [[nodiscard]] std::vector<std::string> data_files() const;

 private:
  [[nodiscard]] bool has_late() const;
};

/// Loads a launch file. `param_overrides`: "N=1024" (`--param`); each must name a key of [params].
[[nodiscard]] LaunchDescription load_launch(const std::string& path,
                                            std::span<const std::string> param_overrides, uint64_t seed);
/// Reads a launch file from its text; `path` is for messages and its folder for relative file names.
/// `allow_files` false refuses every file name (fuzzing).
[[nodiscard]] LaunchDescription parse_launch(std::string_view text, const std::string& path,
                                             std::span<const std::string> param_overrides, uint64_t seed,
                                             bool allow_files = true);

/// Command-line launch: `--kernel`, `--grid X[,Y[,Z]]`, `--block`, `--arg` (a number, or
/// `f32[1024]=uniform(-1,1)`; the buffers are named arg0, arg1, ... by position, so that --dump and the
/// generator can name them).
struct CommandLineLaunch {
  std::string kernel, grid, block;
  std::vector<std::string> args;
  uint64_t dynamic_shared = 0;
  std::vector<std::string> params;  ///< `--param N=1024` defines N here
};
[[nodiscard]] LaunchDescription launch_from_arguments(const CommandLineLaunch& command, uint64_t seed);

/// What requests a variable that a command line dumps (VariableText::requested_by).
inline constexpr std::string_view kDumpOption = "--dump";
/// A module-scope variable as the PTX declares it.
struct DeclaredVariable {
  std::string name;
  std::string space;       ///< "global", "const", "shared", ... as in the PTX
  std::string type;        ///< PTX spelling without the dot
  uint64_t bytes = 0;      ///< 0: an array without a size
  bool is_extern = false;  ///< and defined nowhere
  bool is_texture = false;
  std::vector<std::byte> init;  ///< without the addresses in it; zeros follow
  Where where;
};
/// Finds out type, size and content of the launch's variables. Throws InputError with all problems: no such
/// variable, another type or size, values that do not fit. `ptx` is for messages. Also adds warnings about
/// buffers that nothing uses.
void bind_variables(LaunchDescription& launch, std::span<const DeclaredVariable> declared,
                    const std::string& ptx);

/// Throws InputError if the buffers do not fit into `memory_bytes` (names the largest).
void check_memory(const LaunchDescription& launch, uint64_t memory_bytes);
/// Throws InputError if the buffers that have an initial value, and so take memory of this computer at once,
/// do not fit into what it has available.
void check_host_memory(const LaunchDescription& launch, uint64_t available_bytes);

/// Writes the buffer's first content into `out` (bytes() long, zeroed as DeviceMemory gives it). Throws
/// InputError when a file is wrong or a value does not fit.
void fill_buffer(const BufferSpec& buffer, uint64_t seed, std::span<std::byte> out);

/// A kernel parameter as its PTX declares it.
struct ParameterSlot {
  std::string name;
  std::string type;     ///< PTX spelling without the dot: "u64", "f32", "b8"
  uint32_t offset = 0;  ///< bytes in the parameter block
  uint32_t bytes = 0;
  bool is_array = false;  ///< by-value struct: needs { bytes = [..] }
};
/// Packs the launch's arguments into the kernel's parameter block. `address_of(buffer index)` gives device
/// addresses, `handle_of(texture index)` the values that texture objects have.
[[nodiscard]] std::vector<std::byte> pack_arguments(const LaunchDescription& launch, const LaunchSpec& spec,
                                                    std::span<const ParameterSlot> slots,
                                                    uint32_t param_bytes,
                                                    const std::function<uint64_t(uint32_t)>& address_of,
                                                    const std::function<uint64_t(uint32_t)>& handle_of);

struct ExpectResult {
  std::string buffer;
  bool is_variable = false;
  bool pass = false;
  double worst =
      0;  ///< largest relative error of the elements compared (0: all equal; infinity: NaN against number)
  uint64_t compared = 0;
  uint64_t wrong = 0;
  uint64_t first_bad = 0;  ///< index, valid if wrong > 0
  std::string message;     ///< one line for people
};
/// Compares the buffer's final content with what the expectation says. Throws InputError when a file or
/// reference is wrong.
[[nodiscard]] ExpectResult check_expect(const LaunchDescription& launch, const ExpectSpec& expect,
                                        std::span<const std::byte> actual);

/// Writes a buffer's content as .npy (version 1.0, little endian, one dimension). b8..b64 become unsigned,
/// bf16 becomes u2.
void write_npy(const std::string& path, ElementType type, std::span<const std::byte> content);

}  // namespace gpusim::core
