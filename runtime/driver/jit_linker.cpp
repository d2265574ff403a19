// The linker of the driver API (cuLinkCreate and what follows). Its result is what cuModuleLoadData takes:
// PTX, of several texts one after the other.
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

constexpr int kPtx = 1, kFatBinary = 2, kLibrary = 4;  // CUjitInputType

struct Link {
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

/// `bytes` end with a zero that they do not count.
void add(const Device& device, Link& link, int type, const std::string& bytes, const std::string& name) {
  require(!link.complete);
  // The device has what the toolkit's library of the device runtime holds.
  if (type == kLibrary && name.ends_with("libcudadevrt.a")) return;
  if (type != kPtx && type != kFatBinary)
    throw Failure(Code::kNotSupported, "the linker takes PTX and fat binaries that hold it");
  require(bytes.c_str()[0] != '\0');
  try {
    for (Module::Text& text : cudart::texts_of(device, bytes.c_str(), bytes.size(), name))
      link.texts.push_back(std::move(text));
  } catch (const core::InputError& error) {
    throw Failure(Code::kInvalidKernelImage, error.what());
  }
}

}  // namespace

// Options say how machine code is made, of which there is none.
GPUSIM_DRIVER cuLinkCreate_v2(unsigned, int*, void**, Link** handle) {
  return call([&](Device&) {
    require(handle != nullptr);
    *handle = std::make_unique<Link>().release();
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
GPUSIM_DRIVER cuLinkComplete(Link* handle, void** image, size_t* bytes) {
  return call([&](Device&) {
    Link& link = link_of(handle);
    require(image != nullptr && !link.texts.empty());
    if (!link.complete)
      link.image = link.texts.size() == 1 ? link.texts.front().ptx : cudart::linked_image(link.texts);
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
