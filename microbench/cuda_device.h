// A Device that is a real GPU, through the CUDA driver of the machine. Programs find the second-level cache
// full of other data and the clock up, as far as a program can see to it.
#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "microbench/device.h"
#include "simcore/cuda_driver/driver.h"

namespace gpusim::microbench {

class CudaDevice : public Device {
 public:
  /// `ordinal`: the driver's number of the GPU. Throws core::InputError: there is no driver, or no such GPU.
  explicit CudaDevice(int ordinal);

  [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }
  [[nodiscard]] std::vector<Outcome> run(std::span<const Program> programs) override;
  /// The GPU's name, and the version of CUDA that its driver knows.
  [[nodiscard]] std::string description() const;

 private:
  struct Place {
    uint64_t begin, end;  ///< bytes of the arena
  };
  [[nodiscard]] Outcome run_program(const Program& program);
  [[nodiscard]] std::vector<Place> places_of(const Program& program) const;
  void fill(const Program& program, const std::vector<Place>& places) const;
  [[nodiscard]] std::vector<double> launch_all(const Program& program, const cuda::Module& module,
                                               const std::vector<Place>& places);
  void read_back(const Program& program, const std::vector<Place>& places, Outcome& outcome) const;
  [[nodiscard]] const cuda::Module& module_of(const std::string& ptx);
  /// Without anything to do for a while, a GPU takes its clock down: works until it surely is up.
  void warm_up();
  void spin(uint32_t blocks, uint32_t rounds) const;
  void read_other_data() const;
  void finish(const char* what) const;

  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::Gpu> gpu_;
  DeviceProperties properties_;
  std::map<std::string, std::unique_ptr<cuda::Module>, std::less<>> modules_;  ///< by their PTX
  const cuda::Module* last_ = nullptr;                                         ///< of the program before
  std::unique_ptr<cuda::Module> own_;
  uint64_t other_bytes_ = 0, arena_bytes_ = 0;
  std::unique_ptr<cuda::Memory> other_, arena_;
  cuda::CUdeviceptr arena_begin_ = 0;
  std::vector<std::unique_ptr<cuda::Event>> events_;
  std::chrono::steady_clock::time_point idle_since_;
};

/// PTX of what CudaDevice runs beside programs.
[[nodiscard]] std::string own_kernels(const DeviceProperties& device);

}  // namespace gpusim::microbench
