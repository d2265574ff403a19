// `gpusim init`: writes a launch file from what a PTX file shows of its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "cli/commands.h"
#include "isa/diagnostics.h"
#include "isa/kernel_use.h"
#include "isa/parser.h"
#include "simcore/launch/launch.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

// Small enough that kernels end soon. A buffer has room for an index of three dimensions of that size; zeros
// take no memory until they are written.
constexpr int kSize = 64;
constexpr uint32_t kThreads = 64;         // of a block of one dimension
constexpr uint32_t kTile = 8, kCube = 4;  // of each dimension of one with two, with three

/// Element type of a launch file for what a kernel reads or writes.
std::string element_name(isa::Type type) {
  const std::string name(isa::type_name(type));
  if (core::element_type_from_name(name)) return name;
  switch (isa::type_bytes(type)) {
    case 1:
      return "u8";
    case 2:
      return "b16";
    case 4:
      return "b32";
    default:
      return type == isa::Type::kNone ? "b32" : "b64";
  }
}

/// Texels have no 64-bit or untyped channels.
std::string channel_name(isa::Type type) {
  return type == isa::Type::kF32 || type == isa::Type::kS32 || type == isa::Type::kF16 ? element_name(type)
                                                                                       : "u32";
}

class LaunchWriter {
 public:
  explicit LaunchWriter(const isa::Module& module)
      : module_(module), variables_(module.variables.size()), contents_(module.variables.size()) {
    names_.insert({"N", "SIZE"});
    for (const isa::Variable& v : module.variables) names_.insert(v.name);
  }

  std::string write(const std::string& ptx) {
    for (const isa::Function* kernel : module_.entries()) add_launch(*kernel);
    std::string references, comments;
    for (size_t v = 0; v < module_.variables.size(); ++v) {
      if (isa::is_texture(module_.variables[v]))
        references += texture(module_.variables[v].name, variables_[v]);
      else if (contents_[v].kind == isa::PointerUse::Kind::kAddress)
        references += pointer(module_.variables[v], contents_[v]);
      else
        comments += commented(module_.variables[v], variables_[v]);
    }
    return fmt::format(
        "# Launch file for {}; buffers, sizes and values are guesses: check each line.\n"
        "[params]\nN = {}\n"
        "SIZE = \"16*N*N*N\"             # elements of a buffer, room for an index of three dimensions\n\n"
        "{}{}{}{}",
        ptx, kSize, buffers_, references, comments, launches_);
  }

 private:
  /// A name for the launch file, from one of the PTX.
  std::string unused_name(const std::string& kernel, const std::string& parameter) {
    std::string name = parameter;
    if (names_.contains(name)) name = fmt::format("{}_{}", kernel, parameter);
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "_");
    std::string free = name;
    for (int i = 2; names_.contains(free); ++i) free = fmt::format("{}_{}", name, i);
    names_.insert(free);
    return free;
  }

  std::string add_buffer(const std::string& name, const std::string& type) {
    buffers_ += fmt::format(
        "[[buffer]]\nname = \"{}\"\ntype = \"{}\"\ncount = \"SIZE\"\ninit = \"zeros\"\n\n", name, type);
    return name;
  }

  /// A buffer and a texture in it.
  std::string texture(const std::string& name, const isa::PointerUse& use) {
    const isa::TextureShape shape = use.shape;
    const bool array = shape == isa::TextureShape::kA1d || shape == isa::TextureShape::kA2d;
    const int dimensions = shape == isa::TextureShape::k3d                                       ? 3
                           : shape == isa::TextureShape::k2d || shape == isa::TextureShape::kA2d ? 2
                                                                                                 : 1;
    const std::string buffer = add_buffer(unused_name("texels", "texels_" + name), channel_name(use.element));
    return fmt::format("[[texture]]\nname = \"{}\"\nbuffer = \"{}\"\nwidth = \"N\"\n{}{}{}\n", name, buffer,
                       dimensions > 1 ? "height = \"N\"\n" : "", dimensions > 2 ? "depth = \"N\"\n" : "",
                       array ? "layers = 4\n" : "");
  }

  std::string argument(const isa::Function& kernel, const isa::Variable& p, const isa::PointerUse& use) {
    if (use.kind == isa::PointerUse::Kind::kTexture) {
      const std::string name = unused_name(kernel.name, p.name);
      buffers_ += texture(name, use);
      return fmt::format("\"{}\"", name);
    }
    if (use.kind == isa::PointerUse::Kind::kAddress)
      return fmt::format("\"{}\"", add_buffer(unused_name(kernel.name, p.name), element_name(use.element)));
    if (p.is_array()) return fmt::format("{{ bytes = [{}] }}", fmt::join(std::vector<int>(p.bytes, 0), ", "));
    if (isa::is_float(p.type)) return "1.0";
    return p.bytes < 4 ? "1" : "\"N\"";  // a flag or a small number; a size
  }

  void add_launch(const isa::Function& kernel) {
    const isa::KernelUse use = isa::use_of(module_, kernel);
    std::string args;
    for (size_t p = 0; p < kernel.params.size(); ++p)
      args += (p == 0 ? "" : ", ") + argument(kernel, kernel.params[p], use.params[p]);
    for (size_t v = 0; v < variables_.size(); ++v) {
      if (use.variables[v].kind != isa::PointerUse::Kind::kNumber) variables_[v] = use.variables[v];
      // A pointer with an initial value is not the host's to set.
      const isa::Variable& variable = module_.variables[v];
      if (use.contents[v].kind == isa::PointerUse::Kind::kAddress && variable.relocations.empty() &&
          variable.init.empty())
        contents_[v] = use.contents[v];
    }
    const std::vector<uint32_t> block = block_of(kernel, use);
    std::vector<std::string> grid;
    for (int d = 0; d < std::max(use.grid_dimensions, 1); ++d)
      grid.push_back(fmt::format("\"ceil_div(N, {})\"",
                                 static_cast<size_t>(d) < block.size() ? block[static_cast<size_t>(d)] : 16));
    launches_ += fmt::format(
        "[[launch]]\nkernel = \"{}\"\ngrid = [{}]\nblock = [{}]\n{}args = [{}]\n\n", kernel.name,
        fmt::join(grid, ", "), fmt::join(block, ", "),
        use.dynamic_shared ? fmt::format("dynamic_shared = {}\n", dynamic_shared(kernel)) : "", args);
  }

  /// Most of what an SM of the PTX's time has, beside the kernel's own variables.
  [[nodiscard]] uint64_t dynamic_shared(const isa::Function& kernel) const {
    uint64_t used = 0;
    for (const auto* list : {&kernel.variables, &module_.variables})
      for (const isa::Variable& v : *list)
        if (v.space == isa::Space::kShared) used += v.bytes + v.align;
    const uint64_t all = module_.target_sm < 20 ? 12288 : 40960;
    return all - std::min(all, used);
  }

  static std::vector<uint32_t> block_of(const isa::Function& kernel, const isa::KernelUse& use) {
    for (const auto* given : {&kernel.reqntid, &kernel.maxntid}) {
      if ((*given)[0] == 0) continue;
      std::vector<uint32_t> block{(*given)[0], std::max((*given)[1], 1u), std::max((*given)[2], 1u)};
      while (block.size() > 1 && block.back() == 1) block.pop_back();
      return block;
    }
    if (use.dimensions == 3) return {kCube, kCube, kCube};
    if (use.dimensions == 2) return {kTile, kTile};
    return {kThreads};
  }

  /// A pointer variable and the buffer that it points to.
  std::string pointer(const isa::Variable& v, const isa::PointerUse& use) {
    const std::string buffer =
        add_buffer(unused_name("behind", "behind_" + v.name), element_name(use.element));
    return fmt::format("[[variable]]\nname = \"{}\"\ntype = \"u64\"\ninit = \"address({})\"\n\n", v.name,
                       buffer);
  }

  /// What could be set, as comments: the PTX does not say whether a host does.
  static std::string commented(const isa::Variable& v, const isa::PointerUse& use) {
    if ((v.space != isa::Space::kGlobal && v.space != isa::Space::kConst) || v.bytes == 0) return "";
    std::string type =
        element_name(v.type == isa::Type::kB8 && use.element != isa::Type::kNone ? use.element : v.type);
    if (v.bytes % core::element_bytes(*core::element_type_from_name(type)) != 0) type = "u8";
    const bool has_value = !v.init.empty() || !v.relocations.empty();
    return fmt::format(
        "# [[variable]]                # .{} variable of {} byte{}, {}\n# name = \"{}\"\n# type = \"{}\"\n"
        "# init = \"zeros\"\n\n",
        isa::space_name(v.space), v.bytes, v.bytes == 1 ? "" : "s",
        has_value ? "with an initial value" : "zeros if nothing sets it", v.name, type);
  }

  const isa::Module& module_;
  std::set<std::string> names_;  ///< taken
  std::string buffers_, launches_;
  std::vector<isa::PointerUse> variables_,
      contents_;  ///< by Module::variables: what any kernel does with them
};

}  // namespace

int init_command(const std::string& ptx, const std::string& out, bool force) {
  const isa::ParseResult parsed = isa::parse_module(core::read_text_file(ptx, core::kMaxPtxBytes));
  for (const isa::Diagnostic& d : parsed.diagnostics) print_error("{}\n", isa::format_diagnostic(ptx, d));
  if (!parsed.ok()) return kBadInput;
  if (parsed.module.entries().empty()) core::raise_input_error({ptx}, "the module has no .entry to launch");
  const std::string path = out.empty() ? std::filesystem::path(ptx).replace_extension(".toml").string() : out;
  if (!force && std::filesystem::exists(path))
    core::raise_input_error({path, 0, 0}, "exists already", "give --force to overwrite it, or --out FILE");
  core::write_whole_file(path,
                         LaunchWriter(parsed.module).write(std::filesystem::path(ptx).filename().string()));
  fmt::print("{} written; check every line of it\n", path);
  return kGood;
}

}  // namespace gpusim::cli
