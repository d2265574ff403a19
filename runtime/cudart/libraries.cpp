#include "runtime/cudart/libraries.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#include "runtime/fatbin/fat_binary.h"
#include "simcore/text/input_error.h"

namespace gpusim::runtime::cudart {

namespace {

std::set<Module*>& modules() { return common_state<std::set<Module*>>("loaded modules"); }

/// Before each text of an image that was linked: a comment of PTX, and the name up to the end of the line.
constexpr std::string_view kLinked = "//gpusim: linked text of ";

std::vector<Module::Text> linked_texts(std::string_view image) {
  std::vector<Module::Text> texts;
  while (image.starts_with(kLinked)) {
    const size_t line = image.find('\n'), next = image.find(kLinked, line);
    texts.push_back({std::string(image.substr(kLinked.size(), line - kLinked.size())),
                     std::string(image.substr(line + 1, next - line - 1))});
    image.remove_prefix(std::min(next, image.size()));
  }
  return texts;
}

}  // namespace

std::vector<Module::Text> texts_of(const Device& device, const void* image, std::optional<size_t> known,
                                   const std::string& name) {
  const auto* bytes = static_cast<const std::byte*>(image);
  // None of these begins with a zero, which a text of no length does.
  const auto begins_with = [image](const void* magic) {
    return std::strncmp(static_cast<const char*>(image), static_cast<const char*>(magic), 4) == 0;
  };
  const bool wrapped = !known && begins_with(&kFatBinaryWrapperMagic);
  if (wrapped) std::memcpy(&bytes, bytes + 8, sizeof bytes);
  if (wrapped || begins_with(&kFatBinaryMagic)) {
    constexpr size_t kHeader = 16;
    if (known && *known < kHeader) throw core::InputError(name + ": the fat binary is cut off");
    if (known && *known < fat_binary_bytes(std::span<const std::byte, kHeader>(bytes, kHeader)))
      throw core::InputError(name + ": the fat binary is cut off");
    const std::vector<FatEntry> entries = fat_entries(fat_binary_at(bytes));
    const FatEntry* best = newest_ptx(entries, static_cast<int>(device.machine().gpu.compute_capability));
    if (best == nullptr) throw Failure(Code::kNoKernelImageForDevice, name + ": the fat binary holds no PTX");
    return {{name, ptx_text(*best)}};
  }
  if (begins_with("\177ELF"))
    throw Failure(Code::kNoKernelImageForDevice, name + ": is machine code of a real GPU; gpusim runs PTX");
  std::vector<Module::Text> linked = linked_texts(static_cast<const char*>(image));
  if (!linked.empty()) return linked;
  return {{name, std::string(static_cast<const char*>(image))}};
}

std::string linked_image(const std::vector<Module::Text>& texts) {
  std::string image;
  for (const Module::Text& text : texts) {
    std::string name = text.name;
    std::ranges::replace(name, '\n', ' ');
    image += std::string(kLinked) + name + "\n" + text.ptx + "\n";
  }
  return image;
}

void write_logs(const JitOptions& options, const std::string& errors) {
  enum : int { kInfoLog = 3, kInfoBytes = 4, kErrorLog = 5, kErrorBytes = 6 };
  if (options.names == nullptr || options.values == nullptr) return;
  size_t room = 0;
  for (unsigned i = 0; i < options.count; ++i)
    if (options.names[i] == kErrorBytes)
      room = static_cast<unsigned>(reinterpret_cast<uintptr_t>(options.values[i]));
  const size_t used = room == 0 ? 0 : std::min(errors.size(), room - 1);
  for (unsigned i = 0; i < options.count; ++i) {
    void*& value = options.values[i];
    switch (options.names[i]) {
      case kInfoLog:
        if (value != nullptr) *static_cast<char*>(value) = '\0';
        break;
      case kErrorLog:
        if (value == nullptr || room == 0) break;
        std::memcpy(value, errors.data(), used);
        static_cast<char*>(value)[used] = '\0';
        break;
      case kInfoBytes:
        value = nullptr;
        break;
      case kErrorBytes:
        value = reinterpret_cast<void*>(used);
        break;
      default:
        break;
    }
  }
}

namespace {

/// Which error a text is that cannot be compiled: none of PTX, one of a version that is not known, or a wrong
/// one (as an H100 with driver 580.159 tells them apart).
Code code_of_text(std::string_view text) {
  constexpr std::string_view kVersion = ".version", kSpace = " \t\r\n";
  constexpr int kNewestMajor = 9;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    const bool line = text.starts_with("//"), block = text.starts_with("/*");
    if (!line && !block) break;
    const size_t end = text.find(line ? "\n" : "*/");
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (line ? 1 : 2));
  }
  if (!text.starts_with(kVersion)) return Code::kInvalidKernelImage;
  const int major = std::atoi(std::string(text.substr(kVersion.size(), 16)).c_str());
  return major > kNewestMajor ? Code::kUnsupportedPtxVersion : Code::kInvalidPtx;
}

cudaError_t load(Module** module, const void* image, std::optional<size_t> known, const std::string& name,
                 const JitOptions& options, bool lazy) {
  std::string errors;
  const cudaError_t result = call([&](Device& device) {
    require(module != nullptr && image != nullptr);
    device.check();
    require(options.count == 0 || (options.names != nullptr && options.values != nullptr));
    try {
      std::vector<Module::Text> texts = texts_of(device, image, known, name);
      const std::string first = texts.front().ptx;
      const bool linked = std::strncmp(static_cast<const char*>(image), kLinked.data(), kLinked.size()) == 0;
      Module& made =
          device.add_module(std::move(texts), linked ? Module::Made::kByLinker : Module::Made::kWhole);
      try {
        if (!lazy) made.load();
      } catch (const Failure& failure) {
        device.remove_module(made);
        if (failure.code() != Code::kInvalidPtx) throw;
        throw Failure(code_of_text(first), failure.what(), failure.told());
      }
      modules().insert(&made);
      *module = &made;
    } catch (const core::InputError& error) {
      errors = error.what();
      throw Failure(Code::kInvalidKernelImage, error.what());
    } catch (const Failure& failure) {
      errors = failure.what();
      throw;
    }
  });
  write_logs(options, errors);
  return result;
}

}  // namespace

cudaError_t load_image(Module** module, const void* image, const std::string& name, const JitOptions& options,
                       bool lazy) {
  return load(module, image, std::nullopt, name, options, lazy);
}

cudaError_t load_image_file(Module** module, const char* file, const JitOptions& options) {
  if (file == nullptr) return returned(Failure(Code::kInvalidValue));
  std::ifstream in(file, std::ios::binary);
  if (!in) return returned(Failure(Code::kFileNotFound));
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return load(module, bytes.c_str(), bytes.size(), file, options, false);
}

void unload(Device& device, Module* module) {
  require(modules().erase(module) != 0, Code::kInvalidResourceHandle);
  device.remove_module(*module);
}

Module& loaded_module(Module* handle) {
  const Device* const device = existing_device();
  require(modules().contains(handle) || (device != nullptr && device->is_module(handle)),
          Code::kInvalidResourceHandle);
  return *handle;
}

Kernel& kernel_in(Device& device, Module& module, const char* name) {
  require(name != nullptr);
  Kernel& kernel = device.kernel(module, name);
  require(kernel.exists(), Code::kSymbolNotFound);
  return kernel;
}

Module::Global global_in(Module& module, const char* name) {
  require(name != nullptr);
  const auto global = module.global(name);
  require(global.has_value(), Code::kSymbolNotFound);
  return *global;
}

std::vector<std::string> kernels_in(Module& module) {
  std::vector<std::string> names;
  for (const isa::Function& f : module.ptx().functions)
    if (f.is_entry && !f.is_declaration) names.push_back(f.name);
  return names;
}

}  // namespace gpusim::runtime::cudart
