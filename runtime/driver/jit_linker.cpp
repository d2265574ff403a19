// The linker of the driver API (cuLinkCreate and what follows). Its result is what cuModuleLoadData takes:
// PTX.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>

#include "runtime/driver/driver.h"

namespace gpusim::runtime::driver {

namespace {

constexpr int kPtx = 1;  // CU_JIT_INPUT_PTX

struct Link {
  std::string ptx;
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

void add(Link& link, int type, std::string text) {
  require(!link.complete);
  if (type != kPtx) throw Failure(Code::kNotSupported, "the linker takes PTX only");
  if (!link.ptx.empty()) throw Failure(Code::kNotSupported, "the linker takes one PTX text only");
  text.resize(std::strlen(text.c_str()));  // programs count the zero at the end, or do not
  require(!text.empty());
  link.ptx = std::move(text);
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
GPUSIM_DRIVER cuLinkAddData_v2(Link* handle, int type, void* data, size_t bytes, const char*, unsigned, int*,
                               void**) {
  return call([&](Device&) {
    require(data != nullptr && bytes != 0);
    add(link_of(handle), type, std::string(static_cast<const char*>(data), bytes));
  });
}
GPUSIM_DRIVER cuLinkAddFile_v2(Link* handle, int type, const char* path, unsigned, int*, void**) {
  return call([&](Device&) {
    require(path != nullptr);
    std::ifstream in(path, std::ios::binary);
    require(static_cast<bool>(in), Code::kFileNotFound);
    add(link_of(handle), type, std::string((std::istreambuf_iterator<char>(in)), {}));
  });
}
GPUSIM_DRIVER cuLinkComplete(Link* handle, void** image, size_t* bytes) {
  return call([&](Device&) {
    Link& link = link_of(handle);
    require(image != nullptr && !link.ptx.empty());
    link.complete = true;
    *image = link.ptx.data();
    if (bytes != nullptr) *bytes = link.ptx.size() + 1;
  });
}
GPUSIM_DRIVER cuLinkDestroy(Link* handle) {
  return call([&](Device&) {
    const std::unique_ptr<Link> gone(&link_of(handle));
    links().erase(handle);
  });
}

}  // namespace gpusim::runtime::driver
