// What a kernel asks of the CUDA run-time system: the functions that PTX calls by name and that no module
// defines (PTX Interoperability, "System Calls"). Lowering makes a memory operation of such a call: it is
// never dropped, keeps its place among the other accesses, and is timed as an atomic operation on the word of
// device memory in which the system keeps its books.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isa/exec/device_runtime.h"
#include "isa/exec/executor.h"

namespace gpusim::isa {

enum class SystemCall : uint8_t {
  kPrint,     ///< vprintf(format, arguments): how many arguments, or below zero an error
  kAllocate,  ///< malloc(bytes): an address, or null
  kRelease,   ///< free(address)
  kRuntime,   ///< a function of the device runtime (isa/exec/device_runtime.h), which MicroOp::imm names
};
/// The system call with this name; nothing if it is not one that is carried out here.
[[nodiscard]] std::optional<SystemCall> system_call(std::string_view name);
/// Waiting for children inside a kernel, which toolkits since 12.0 do not have any more: not carried out.
[[nodiscard]] bool waits_for_children(std::string_view name);
/// Programs call it and define it nowhere: the system has it, or had it.
[[nodiscard]] bool is_of_system(std::string_view name);
/// Bits of KernelImage::system_calls.
[[nodiscard]] constexpr uint8_t system_call_bit(SystemCall call) {
  return static_cast<uint8_t>(1u << static_cast<unsigned>(call));
}

/// The host's side of the calls, for all lanes of a warp at once. Lanes take their turn in ascending order.
class DeviceServices {
 public:
  using Pointers = std::array<uint64_t, kWarpSize>;
  virtual ~DeviceServices() = default;
  /// Takes note of what the lanes print. An address that cannot be read sets the fault of `access`.
  virtual void print(const WarpContext& context, LaneMask lanes, const Pointers& formats,
                     const Pointers& arguments, std::array<int32_t, kWarpSize>& results,
                     MemoryAccess& access) = 0;
  virtual void allocate(LaneMask lanes, const Pointers& bytes, Pointers& results) = 0;
  /// An address that allocate() has not given, or that is free already, sets the fault of `access`.
  virtual void release(LaneMask lanes, const Pointers& addresses, MemoryAccess& access) = 0;
  /// A function of the device runtime for each lane: its arguments lie in the block at a generic address,
  /// its result goes to `results`.
  virtual void call_runtime(RuntimeCall call, const WarpContext& context, LaneMask lanes,
                            const Pointers& blocks, Pointers& results, MemoryAccess& access) = 0;
  /// Why [address, address + bytes) is not of one block that allocate() has given, if it is in the memory
  /// that allocate() gives from; empty if nothing is wrong. For checkers.
  [[nodiscard]] virtual std::string stray(uint64_t address, uint64_t bytes) const = 0;
  /// The word of device memory that the call's atomic operation is on, for the timing model.
  [[nodiscard]] virtual uint64_t books(SystemCall call) const = 0;
};

/// The memory function of a system call: src[0] and src[1] are its arguments, 64 bits wide, dst[0] its
/// result. Of kRuntime src[0] is the address of the block of arguments.
[[nodiscard]] MemFn system_call_function(SystemCall call);

[[nodiscard]] bool is_system_call(MemFn function);

/// The bytes from a generic address of one lane to the end of the memory around it; data is null if there is
/// none.
[[nodiscard]] MemoryWindow generic_window(const WarpContext& context, int lane, uint64_t address);

}  // namespace gpusim::isa
