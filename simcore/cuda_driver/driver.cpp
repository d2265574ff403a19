#include "simcore/cuda_driver/driver.h"

#include <dlfcn.h>

#include <algorithm>

namespace gpusim::cuda {

namespace {
constexpr unsigned kSharedWithoutAsking = 48u << 10;
}

Driver::Driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) throw Error(std::string("no CUDA driver on this machine: ") + dlerror());
#define GPUSIM_CUDA_LOAD(name, symbol, parameters)                        \
  name##_ = reinterpret_cast<decltype(name##_)>(dlsym(library, #symbol)); \
  if (name##_ == nullptr) throw Error("the CUDA driver is too old: it has no " #symbol);
  GPUSIM_CUDA_FUNCTIONS(GPUSIM_CUDA_LOAD)
#undef GPUSIM_CUDA_LOAD
  check(cuInit_(0), "starting the driver");
  int devices = 0;
  check(cuDeviceGetCount_(&devices), "counting devices");
  if (devices == 0) throw Error("no GPU on this machine");
}

void Driver::check(CUresult result, const std::string& what) const {
  if (result == kSuccess) return;
  const char* text = nullptr;
  if (cuGetErrorString_ != nullptr) cuGetErrorString_(result, &text);
  throw Error(what + ": " + (text != nullptr ? text : "error " + std::to_string(result)));
}

Gpu::Gpu(const Driver& driver, int ordinal) : driver_(driver) {
  driver.check(driver.cuDeviceGet_(&device_, ordinal), "opening device " + std::to_string(ordinal));
  CUcontext context = nullptr;
  driver.check(driver.cuDevicePrimaryCtxRetain_(&context, device_), "making a context");
  driver.check(driver.cuCtxSetCurrent_(context), "using the context");
}

int Gpu::attribute(Attribute which) const {
  int value = 0;
  driver_.check(driver_.cuDeviceGetAttribute_(&value, which, device_), "asking for an attribute");
  return value;
}

std::string Gpu::bus_id() const {
  char text[32] = "";
  driver_.check(driver_.cuDeviceGetPCIBusId_(text, sizeof text, device_),
                "asking for the device's place on the bus");
  return text;
}

std::string Gpu::name() const {
  char name[256] = "";
  driver_.check(driver_.cuDeviceGetName_(name, sizeof name, device_), "asking for the device's name");
  return name;
}

std::string Gpu::driver_version() const {
  int version = 0;
  driver_.check(driver_.cuDriverGetVersion_(&version), "asking for the driver's version");
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int Gpu::capability() const {
  return 10 * attribute(Attribute::kCapabilityMajor) + attribute(Attribute::kCapabilityMinor);
}

uint64_t Gpu::memory_bytes() const {
  size_t bytes = 0;
  driver_.check(driver_.cuDeviceTotalMem_(&bytes, device_), "asking for the device's memory");
  return bytes;
}

Memory::Memory(const Driver& d, uint64_t bytes) : driver(d) {
  d.check(d.cuMemAlloc_(&address, std::max<uint64_t>(bytes, 4)),
          "allocating " + std::to_string(bytes) + " bytes");
}

Memory::~Memory() { driver.cuMemFree_(address); }

Module::Module(const Driver& d, const std::string& ptx) : driver(d) {
  char log[4096] = "";
  JitOption options[] = {JitOption::kErrorLog, JitOption::kErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult result = d.cuModuleLoadDataEx_(&module, ptx.c_str(), 2, options, values);
  d.check(result, std::string("the driver does not take the PTX") +
                      (log[0] != '\0' ? std::string(" (") + log + ")" : ""));
}

Module::~Module() { driver.cuModuleUnload_(module); }

CUfunction Module::function(const std::string& name) const {
  CUfunction f = nullptr;
  driver.check(driver.cuModuleGetFunction_(&f, module, name.c_str()), "looking for kernel '" + name + "'");
  return f;
}

CUdeviceptr Module::variable(const std::string& name, uint64_t bytes) const {
  CUdeviceptr address = 0;
  size_t its_bytes = 0;
  driver.check(driver.cuModuleGetGlobal_(&address, &its_bytes, module, name.c_str()),
               "looking for variable '" + name + "'");
  if (its_bytes != bytes)
    throw Error("variable '" + name + "' has " + std::to_string(its_bytes) + " bytes on the device");
  return address;
}

Event::Event(const Driver& driver) : driver_(&driver) {
  driver.check(driver.cuEventCreate_(&event_, 0), "making an event");
}

Event::~Event() { driver_->cuEventDestroy_(event_); }

void Event::record() const { driver_->check(driver_->cuEventRecord_(event_, nullptr), "recording an event"); }

double Event::seconds_since(const Event& earlier) const {
  float milliseconds = 0;
  driver_->check(driver_->cuEventElapsedTime_(&milliseconds, earlier.event_, event_), "reading events");
  return 1e-3 * static_cast<double>(milliseconds);
}

void launch(const Driver& d, CUfunction function, const Shape& s, std::vector<void*> arguments,
            const std::string& name) {
  d.check(d.cuLaunchKernel_(function, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
                            s.shared_bytes, nullptr, arguments.data(), nullptr),
          "launching '" + name + "'");
}

void allow_shared(const Driver& d, CUfunction function, unsigned bytes) {
  if (bytes <= kSharedWithoutAsking) return;
  d.check(d.cuFuncSetAttribute_(function, FunctionAttribute::kMostDynamicShared, static_cast<int>(bytes)),
          "asking for shared memory");
}

}  // namespace gpusim::cuda
