#include "runtime/device/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>

#include "isa/exec/texture.h"
#include "simcore/memory/fingerprint.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

namespace {

namespace fs = std::filesystem;

constexpr char kCase[] = "case";

/// A name of a launch file: letters, digits, underscores.
std::string plain_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

/// As buffers are declared: what is a multiple of words counts words, which are easier to look at.
core::ElementType type_of(uint64_t bytes) {
  return bytes % 4 == 0 ? core::ElementType::kU32 : core::ElementType::kU8;
}

template <class T>
T read(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// The parameter's bytes one by one, for what no number says exactly.
std::string as_bytes(std::span<const std::byte> bytes) {
  std::string text = "{ bytes = [";
  for (size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", std::to_integer<int>(bytes[i]));
  return text + "] }";
}

std::string integer(uint64_t value, uint32_t bytes) {
  if (bytes == 8) return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{}", value);
}

}  // namespace

Export::Export(fs::path folder, const core::DeviceMemory& memory, bool all)
    : folder_(std::move(folder)), partial_(folder_), memory_(memory), all_(all) {
  partial_ += fmt::format(".partial.{}", getpid());
  std::error_code error;
  fs::create_directories(partial_, error);
  if (error)
    throw Failure(Code::kNoDevice,
                  fmt::format("{}: error: cannot be made: {}", partial_.string(), error.message()));
}

Export::~Export() {
  std::error_code error;
  if (!finished_) fs::remove_all(partial_, error);
}

void Export::write_file(const std::string& name, std::span<const std::byte> bytes) {
  std::ofstream out(partial_ / name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out)
    throw Failure(Code::kUnknown, fmt::format("{}: error: cannot be written: {}", (partial_ / name).string(),
                                              std::strerror(errno)));
}

std::string Export::data(std::span<const std::byte> bytes) {
  const std::string name = fmt::format("data_{}.bin", data_files_++);
  write_file(name, bytes);
  return name;
}

std::span<const std::byte> Export::bytes_of(uint64_t base) const {
  const core::Allocation* a = memory_.find(base);
  if (a == nullptr) return {};
  return {a->data, a->bytes};
}

void Export::allocated(const core::Allocation& a, comp::GlobalObject::Kind kind, bool host_writes,
                       std::string_view type) {
  Object o;
  o.name = plain_name(a.name);
  o.bytes = a.bytes;
  o.variable = kind != comp::GlobalObject::Kind::kBuffer;
  // Launch files know variables of types that they do not have as bytes.
  o.type =
      o.variable ? core::element_type_from_name(type).value_or(core::ElementType::kB8) : type_of(a.bytes);
  // A variable keeps the name that the PTX gives it.
  if (o.variable) o.name = a.name;
  const std::string name = o.name;
  for (int number = 2; !o.variable && !buffers_.insert(o.name).second; ++number)
    o.name = fmt::format("{}_{}", name, number);
  o.constant = kind == comp::GlobalObject::Kind::kConstant;
  o.host_writes = host_writes;
  o.content = core::fingerprint(bytes_of(a.base));
  objects_.insert_or_assign(a.base, std::move(o));
}

Export::Place Export::object_at(const void* address) {
  const auto a = reinterpret_cast<uint64_t>(address);
  auto after = objects_.upper_bound(a);
  if (after == objects_.begin()) return {};
  --after;
  if (a >= after->first + after->second.bytes) return {};
  return {&after->second, after->first};
}

void Export::released(uint64_t base) {
  const auto at = objects_.find(base);
  if (at == objects_.end()) return;
  if (all_ && at->second.in_use && !at->second.host_writes) expect(at->second, base);
  if (at->second.in_use)
    gone_.push_back(fmt::format("[[buffer]]\nname = \"{}\"\ntype = \"{}\"\ncount = {}\naddress = {:#x}\n{}",
                                at->second.name, core::element_type_name(at->second.type),
                                count_of(at->second), base, at->second.init));
  objects_.erase(at);
}

void Export::copied(const Copy& c) {
  if (!all_) {
    known_ = false;
    return;
  }
  const Place to = object_at(c.to), from = object_at(c.from);
  const bool one_piece = c.height == 1 && c.depth == 1;
  const auto offset_in = [](const Place& p, const void* address) {
    return reinterpret_cast<uint64_t>(address) - p.base;
  };
  if (to.object == nullptr || to.object->host_writes) {
    // What reaches memory that the host writes itself is found there before the next launch.
    if (from.object == nullptr || from.object->host_writes) return;
    from.object->in_use = true;
    const uint64_t offset = offset_in(from, c.from);
    steps_ += fmt::format("[[copy]]\n{} = \"{}\"\ndirection = \"from_device\"\noffset = {}\nbytes = {}\n",
                          key(*from.object), from.object->name, offset,
                          std::min(c.bytes(), from.object->bytes - offset));
    return;
  }
  Object& target = *to.object;
  target.in_use = true;
  const uint64_t offset = offset_in(to, c.to);
  if (one_piece && from.object != nullptr && !from.object->host_writes) {
    from.object->in_use = true;
    steps_ +=
        fmt::format("[[copy]]\n{} = \"{}\"\noffset = {}\nbytes = {}\nfrom = \"{}\"\nfrom_offset = {}\n",
                    key(target), target.name, offset, c.width, from.object->name, offset_in(from, c.from));
    return;
  }
  // Rows go together with what lies between them, and parts of elements with the rest of each.
  const uint64_t element = core::element_bytes(target.type);
  const uint64_t length = (c.depth - 1) * c.to_slice + (c.height - 1) * c.to_pitch + c.width;
  const uint64_t begin = offset / element * element;
  const uint64_t end = std::min((offset + length + element - 1) / element * element, target.bytes);
  steps_ += fmt::format("[[copy]]\n{} = \"{}\"\noffset = {}\nbytes = {}\ninit = \"file:{}\"\n", key(target),
                        target.name, begin, end - begin, data(bytes_of(to.base).subspan(begin, end - begin)));
}

void Export::filled(const Fill& f) {
  if (!all_) {
    known_ = false;
    return;
  }
  const Place to = object_at(f.to);
  if (to.object == nullptr || to.object->host_writes) return;
  to.object->in_use = true;
  const uint64_t mask = f.value_bytes == 4 ? ~0u : (1u << (8 * f.value_bytes)) - 1;
  for (uint64_t z = 0; z < f.depth; ++z)
    for (uint64_t y = 0; y < f.height; ++y)
      steps_ += fmt::format("[[memset]]\n{} = \"{}\"\nvalue = {}\nwidth = {}\noffset = {}\nbytes = {}\n",
                            key(*to.object), to.object->name, f.value & mask, f.value_bytes,
                            reinterpret_cast<uint64_t>(f.to) - to.base + z * f.slice + y * f.pitch, f.width);
}

void Export::bring(Object& object, uint64_t base) {
  object.in_use = true;
  const std::string file = data(bytes_of(base));
  if (launches_ == 0) {
    object.init = fmt::format("init = \"file:{}\"\n", file);
    return;
  }
  const std::string source = fmt::format("content_{}", data_files_ - 1);
  sources_ += fmt::format("[[buffer]]\nname = \"{}\"\ntype = \"{}\"\ncount = {}\ninit = \"file:{}\"\n",
                          source, core::element_type_name(object.type), count_of(object), file);
  steps_ += fmt::format("[[host]]\nstep = \"copy({}, {})\"\n", object.name, source);
}

void Export::bring_changes() {
  for (auto& [base, object] : objects_) {
    if (object.bytes == 0 || (known_ && !object.host_writes)) continue;
    const uint64_t content = core::fingerprint(bytes_of(base));
    if (content == object.content) continue;
    object.content = content;
    bring(object, base);
  }
  known_ = true;
}

std::string Export::argument(const isa::KernelParam& p, std::span<const std::byte> bytes) {
  if (p.is_array) return as_bytes(bytes);
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<size_t>(bytes.size(), 8));
  constexpr uint64_t kMostTextures = 1 << 20;
  if (const uint64_t offset = value - isa::kTextureWindowBase;
      p.bytes == 8 && offset % isa::kTextureStride == 0 && offset / isa::kTextureStride < kMostTextures)
    throw Failure(Code::kNotSupported,
                  "--export: a kernel uses texture or surface objects, which launch files of exported "
                  "programs do not have");
  if (const Place at = object_at(reinterpret_cast<const void*>(value));
      p.bytes == 8 && at.object != nullptr) {
    at.object->in_use = true;
    if (at.base == value && (!at.object->variable)) return fmt::format("\"{}\"", at.object->name);
  }
  if (p.type == isa::Type::kF32 || p.type == isa::Type::kF64) {
    const double real = p.bytes == 4 ? double{read<float>(bytes)} : read<double>(bytes);
    if (!std::isfinite(real) || (real == 0 && std::signbit(real))) return as_bytes(bytes);
    const std::string text = p.bytes == 4 ? fmt::format("{:.9g}", real) : fmt::format("{:.17g}", real);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
  if (bytes.size() > 8) return as_bytes(bytes);
  return integer(value, p.bytes);
}

void Export::use_program(const std::string& kernel, const std::vector<Module::Text>& texts) {
  uint64_t program = 0;
  for (const Module::Text& t : texts)
    program = program * 31 + core::fingerprint(std::as_bytes(std::span(t.ptx)));
  if (of_kernels_.emplace(kernel, program).first->second != program)
    throw Failure(Code::kNotSupported,
                  fmt::format("--export: two modules of the program have a kernel '{}'", kernel));
  if (std::ranges::find(programs_, program) != programs_.end()) return;
  programs_.push_back(program);
  for (const Module::Text& t : texts) {
    const std::string name =
        files_.empty() ? fmt::format("{}.ptx", kCase) : fmt::format("{}_{}.ptx", kCase, files_.size());
    write_file(name, std::as_bytes(std::span(t.ptx)));
    files_.push_back(name);
  }
}

void Export::before_launch(const core::LaunchSpec& spec, const isa::KernelImage& image,
                           std::span<const std::byte> parameters, const std::vector<Module::Text>& texts) {
  use_program(spec.kernel, texts);
  // Pointers may lie in structures and in memory, so that a kernel may reach all that there is.
  for (auto& [base, object] : objects_) object.in_use = object.in_use || !object.variable;
  bring_changes();
  ++launches_;
  steps_ += fmt::format("[[launch]]  # {}\nkernel = \"{}\"\ngrid = [{}, {}, {}]\nblock = [{}, {}, {}]\n",
                        core::short_kernel_name(spec.kernel), spec.kernel, spec.grid[0], spec.grid[1],
                        spec.grid[2], spec.block[0], spec.block[1], spec.block[2]);
  if (spec.cluster[0] != 0)
    steps_ += fmt::format("cluster = [{}, {}, {}]\n", spec.cluster[0], spec.cluster[1], spec.cluster[2]);
  if (spec.non_portable_cluster) steps_ += "non_portable_cluster = true\n";
  if (spec.dynamic_shared != 0) steps_ += fmt::format("dynamic_shared = {}\n", spec.dynamic_shared);
  std::string list;
  for (const isa::KernelParam& p : image.params)
    list += (list.empty() ? "" : ", ") + argument(p, parameters.subspan(p.offset, p.bytes));
  if (!list.empty()) steps_ += fmt::format("args = [{}]\n", list);
}

void Export::after_launch() {
  for (auto& [base, object] : objects_)
    if (object.bytes != 0 && (object.host_writes || !all_))
      object.content = core::fingerprint(bytes_of(base));
  if (all_) return;
  // Nobody knows which chosen launch is the last: what memory holds after it is what the case expects.
  expects_.clear();
  for (auto& [base, object] : objects_)
    if (object.in_use) expect(object, base);
}

void Export::skipped() { known_ = false; }

void Export::expect(Object& object, uint64_t base) {
  if (object.bytes == 0 || object.constant) return;
  const std::string file = fmt::format("expected_{:x}.bin", base);
  write_file(file, bytes_of(base));
  expects_ += fmt::format("[[expect]]\n{} = \"{}\"\nfile = \"{}\"\n", key(object), object.name, file);
}

void Export::check_variables() const {
  std::map<std::string_view, uint64_t> seen;
  for (const auto& [base, o] : objects_)
    if (o.variable && o.in_use && !seen.emplace(o.name, base).second)
      throw Failure(Code::kNotSupported,
                    fmt::format("--export: two modules of the program have a variable '{}'", o.name));
}

uint64_t Export::finish(const std::string& title) {
  if (launches_ == 0) return 0;
  check_variables();
  if (all_)
    for (auto& [base, object] : objects_)
      if (object.in_use && (!object.host_writes || object.content == core::fingerprint(bytes_of(base))))
        expect(object, base);
  std::string text = fmt::format("# {}\n", title);
  if (files_.size() > 1) {
    text += "link = [";
    for (size_t i = 1; i < files_.size(); ++i) text += fmt::format("{}\"{}\"", i == 1 ? "" : ", ", files_[i]);
    text += "]\n";
  }
  for (const std::string& g : gone_) text += g;
  for (const auto& [base, o] : objects_) {
    if (!o.in_use || o.bytes == 0) continue;
    if (o.variable)
      text += fmt::format("[[variable]]\nname = \"{}\"\naddress = {:#x}\n{}", o.name, base, o.init);
    else
      text += fmt::format("[[buffer]]\nname = \"{}\"\ntype = \"{}\"\ncount = {}\naddress = {:#x}\n{}", o.name,
                          core::element_type_name(o.type), count_of(o), base, o.init);
  }
  text += sources_ + steps_ + expects_;
  write_file(fmt::format("{}.toml", kCase), std::as_bytes(std::span(text)));
  std::error_code error;
  fs::rename(partial_, folder_, error);
  if (error)
    throw Failure(Code::kUnknown,
                  fmt::format("{}: error: cannot be made: {}", folder_.string(), error.message()));
  finished_ = true;
  return launches_;
}

}  // namespace gpusim::runtime
