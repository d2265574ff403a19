// The system calls of kernels, carried out by the host: printf(), malloc() and free(), and the device runtime
// if somebody has it (set_runtime()). One object serves all
// launches that share a device memory. A program that embeds the simulator gives it a sink for the text and,
// as cudaDeviceSetLimit() does, the sizes of the two buffers.
#pragma once
#include <cstdint>
#include <functional>

#include "components/services/device_heap.h"
#include "components/services/print_fifo.h"
#include "isa/exec/device_services.h"
#include "isa/exec/micro_op.h"
#include "simcore/memory/device_memory.h"

namespace gpusim::comp {

class HostServices final : public isa::DeviceServices {
 public:
  explicit HostServices(PrintFifo::Sink sink = {}) : sink_(std::move(sink)) {}

  /// Who carries out the device runtime: DeviceServices::call_runtime().
  using Runtime = std::function<void(isa::RuntimeCall, const isa::WarpContext&, isa::LaneMask,
                                     const Pointers& blocks, Pointers& results, isa::MemoryAccess&)>;
  void set_runtime(Runtime runtime) { runtime_ = std::move(runtime); }
  void set_sink(PrintFifo::Sink sink) { sink_ = std::move(sink); }
  /// cudaLimitPrintfFifoSize.
  void set_printf_fifo_bytes(uint64_t bytes) { fifo_.set_capacity(bytes); }
  [[nodiscard]] uint64_t printf_fifo_bytes() const { return fifo_.capacity(); }
  /// cudaLimitMallocHeapSize; false, without an effect, once a kernel that uses the heap has been prepared.
  bool set_malloc_heap_bytes(uint64_t bytes);
  [[nodiscard]] uint64_t malloc_heap_bytes() const { return heap_bytes_; }

  /// Before the first launch of a kernel: reserves the device memory that its system calls need. Throws
  /// core::InputError if there is too little, or if nobody carries them out.
  void prepare(const isa::KernelImage& image, core::DeviceMemory& memory);
  /// Gives what kernels have printed to the sink. Where the programming guide says so: a launch, a
  /// synchronisation, the end of the program.
  void flush() { fifo_.flush(sink_); }
  /// As before the first launch: nothing is printed or allocated.
  void reset();
  [[nodiscard]] const DeviceHeap& heap() const { return heap_; }
  [[nodiscard]] DeviceHeap& heap() { return heap_; }

  void print(const isa::WarpContext& context, isa::LaneMask lanes, const Pointers& formats,
             const Pointers& arguments, std::array<int32_t, isa::kWarpSize>& results,
             isa::MemoryAccess& access) override;
  void allocate(isa::LaneMask lanes, const Pointers& bytes, Pointers& results) override;
  void release(isa::LaneMask lanes, const Pointers& addresses, isa::MemoryAccess& access) override;
  void call_runtime(isa::RuntimeCall call, const isa::WarpContext& context, isa::LaneMask lanes,
                    const Pointers& blocks, Pointers& results, isa::MemoryAccess& access) override;
  [[nodiscard]] std::string stray(uint64_t address, uint64_t bytes) const override;
  [[nodiscard]] uint64_t books(isa::SystemCall call) const override {
    if (call == isa::SystemCall::kRuntime) return runtime_address_;
    return call == isa::SystemCall::kPrint ? fifo_address_ : heap_.base();
  }

 private:
  /// Reads the arguments of one lane; false if memory ends before them: `access` has the fault then.
  bool read_values(const isa::WarpContext& context, uint32_t lane, const PrintFormat& format,
                   uint64_t address, isa::MemoryAccess& access);

  PrintFifo::Sink sink_;
  Runtime runtime_;
  PrintFifo fifo_;
  DeviceHeap heap_;
  uint64_t heap_bytes_ = DeviceHeap::kDefaultBytes;
  uint64_t fifo_address_ = 0, runtime_address_ = 0;
  std::vector<PrintValue> values_;  ///< of one call
};

}  // namespace gpusim::comp
