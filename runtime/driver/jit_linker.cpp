// The linker of the driver API (cuLinkCreate and what follows). Its result is what cuModuleLoadData takes:
// PTX, of all texts one after the other.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cudart/libraries.h"
#include "runtime/driver/driver.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime::driver {

namespace {

constexpr int kMachineCode = 0, kPtx = 1, kFatBinary = 2, kLibrary = 4, kInputTypes = 6;  // CUjitInputType

/// The logs that the program has given room for. How much each has is replaced by how much was written.
class Logs {
 public:
  Logs() = default;
  Logs(const int* names, void** values, unsigned count)
      : names_(names, names + count), given_(values, values + count), values_(values) {}
  void write(const std::string& errors) const {
    std::ranges::copy(given_, values_);
    cudart::write_logs({names_.data(), values_, static_cast<unsigned>(names_.size())}, errors);
  }

 private:
  std::vector<int> names_;
  std::vector<void*> given_;
  void** values_ = nullptr;
};

struct Link {
  Logs logs;
  std::vector<Module::Text> texts;
  std::string image;
  bool complete = false;
};
std::set<Link*>& links() {
  static auto* const made = new std::set<Link*>;
  return *made;
}
Link& link_of(Link* handle) {
  require(links().contains(handle), Code::kInvalidResourceHandle);
  return *handle;
}

/// `bytes` end with a zero that they do not count. What NVRTC gives as machine code is PTX
/// (libgpusim_nvrtc.so).
void add(const Device& device, Link& link, int type, const std::string& bytes, const std::string& name) {
  require(!link.complete && type >= 0 && type < kInputTypes);
  // The device has what the toolkit's library of the device runtime holds.
  if (type == kLibrary && name.ends_with("libcudadevrt.a")) return;
  try {
    if (type != kMachineCode && type != kPtx && type != kFatBinary)
      throw Failure(Code::kNotSupported, name + ": the linker takes PTX and fat binaries that hold it");
    require(bytes.c_str()[0] != '\0');
    std::vector<Module::Text> texts = cudart::texts_of(device, bytes.c_str(), bytes.size(), name);
    std::ranges::for_each(texts, &Module::check);
    std::ranges::move(texts, std::back_inserter(link.texts));
  } catch (const core::InputError& error) {
    link.logs.write(error.what());
    throw Failure(Code::kInvalidKernelImage, error.what());
  } catch (const Failure& failure) {
    link.logs.write(failure.what());
    throw;
  }
}

/// What does not link is the linker's to say.
void check_links(Device& device, const Link& link) {
  Module& module = device.add_module(link.texts, Module::Made::kByLinker);
  try {
    module.link();
  } catch (const Failure& failure) {
    const std::string errors = failure.what();
    device.remove_module(module);
    link.logs.write(errors);
    throw Failure(Code::kInvalidKernelImage, errors);
  }
  device.remove_module(module);
}

}  // namespace

// Other options than the logs say how machine code is made, of which there is none.
GPUSIM_DRIVER cuLinkCreate_v2(unsigned count, int* options, void** values, Link** handle) {
  return call([&](Device&) {
    require(handle != nullptr && (count == 0 || (options != nullptr && values != nullptr)));
    auto link = std::make_unique<Link>();
    link->logs = {options, values, count};
    link->logs.write("");
    *handle = link.release();
    links().insert(*handle);
  });
}
GPUSIM_DRIVER cuLinkAddData_v2(Link* handle, int type, void* data, size_t bytes, const char* name, unsigned,
                               int*, void**) {
  return call([&](Device& device) {
    require(data != nullptr && bytes != 0);
    add(device, link_of(handle), type, std::string(static_cast<const char*>(data), bytes),
        name == nullptr ? "linked text" : name);
  });
}
GPUSIM_DRIVER cuLinkAddFile_v2(Link* handle, int type, const char* path, unsigned, int*, void**) {
  return call([&](Device& device) {
    require(path != nullptr);
    std::ifstream in(path, std::ios::binary);
    require(static_cast<bool>(in), Code::kFileNotFound);
    add(device, link_of(handle), type, std::string((std::istreambuf_iterator<char>(in)), {}), path);
  });
}
// Their first forms have the same parameters.
GPUSIM_DRIVER cuLinkCreate(unsigned count, int* options, void** values, Link** handle) {
  return cuLinkCreate_v2(count, options, values, handle);
}
GPUSIM_DRIVER cuLinkAddData(Link* handle, int type, void* data, size_t bytes, const char* name,
                            unsigned count, int* options, void** values) {
  return cuLinkAddData_v2(handle, type, data, bytes, name, count, options, values);
}
GPUSIM_DRIVER cuLinkAddFile(Link* handle, int type, const char* path, unsigned count, int* options,
                            void** values) {
  return cuLinkAddFile_v2(handle, type, path, count, options, values);
}
GPUSIM_DRIVER cuLinkComplete(Link* handle, void** image, size_t* bytes) {
  return call([&](Device& device) {
    Link& link = link_of(handle);
    require(image != nullptr && !link.texts.empty());
    if (!link.complete) {
      check_links(device, link);
      link.image = cudart::linked_image(link.texts);
    }
    link.complete = true;
    *image = link.image.data();
    if (bytes != nullptr) *bytes = link.image.size() + 1;
  });
}
GPUSIM_DRIVER cuLinkDestroy(Link* handle) {
  return call([&](Device&) {
    const std::unique_ptr<Link> gone(&link_of(handle));
    links().erase(handle);
  });
}

}  // namespace gpusim::runtime::driver
