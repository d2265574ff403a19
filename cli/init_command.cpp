// `gpusim init`: writes a launch file from what a PTX file shows of its kernels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/launch_trial.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/kernel_use.h"
#include "isa/ptx/parser/parser.h"
#include "simcore/launch/launch.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::cli {

namespace {

/// Sizes that are guessed: by how many dimensions kernels have at most, N; by how many a kernel has, its
/// block.
struct Guess {
  uint32_t n[3];
  std::vector<uint32_t> block[3];
  uint64_t most_operations;  ///< of warps, in each kernel, when it is tried
};

/// The first is what people write; the second suits kernels that take longer or whose shared arrays are made
/// for small blocks, the third those whose arrays have few rows.
const Guess kGuesses[] = {{{1024, 128, 64}, {{256}, {16, 16}, {8, 8, 4}}, 3'000'000},
                          {{64, 64, 64}, {{64}, {8, 8}, {4, 4, 4}}, 30'000'000},
                          {{64, 64, 64}, {{32}, {16, 4}, {16, 4, 1}}, 30'000'000}};

/// Element type of a launch file for what a kernel reads or writes.
std::string element_name(isa::Type type) {
  std::string name(isa::type_name(type));
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

/// N, 4*N*N, N*N + 2 or whatever holds so many elements.
std::string count_of(uint64_t elements, uint64_t n) {
  constexpr uint64_t kMostTimes = 16, kMostMore = 64;
  std::string power = "N";
  for (uint64_t size = n;; size *= n, power += "*N") {
    if (elements <= size) return power;
    if (elements - size <= kMostMore) return fmt::format("{} + {}", power, elements - size);
    const uint64_t times = (elements + size - 1) / size;
    if (times <= kMostTimes) return fmt::format("{}*{}", times, power);
  }
}

class LaunchWriter {
 public:
  LaunchWriter(const isa::Module& module, const Guess& guess)
      : module_(module),
        guess_(guess),
        variables_(module.variables.size()),
        contents_(module.variables.size()) {
    names_.insert("N");
    for (const isa::Variable& v : module.variables) names_.insert(v.name);
    for (const isa::Function* kernel : module_.entries()) add_launch(*kernel);
    n_ = guess.n[dimensions_ - 1];
    add_variables();
  }

  /// With buffers that have room for nearly every index.
  [[nodiscard]] std::string roomy(const std::string& ptx) const {
    // Zeros take no memory until they are written, but several buffers have to lie within 32-bit addresses.
    constexpr uint64_t kMostElements = uint64_t{1} << 24;
    const uint64_t room = std::min(16 * n_ * n_ * n_, kMostElements);
    return text(ptx, std::vector<uint64_t>(buffers_.size(), room), "a guess: room for nearly any index");
  }
  /// With so many elements in each buffer.
  [[nodiscard]] std::string fitting(const std::string& ptx, const std::vector<uint64_t>& elements) const {
    return text(ptx, elements, "as many as the kernels reach with these sizes and values");
  }

 private:
  struct Buffer {
    std::string name, type;
    std::string count;  ///< of texels; empty: what is reached
  };

  [[nodiscard]] std::string text(const std::string& ptx, const std::vector<uint64_t>& elements,
                                 const std::string& comment) const {
    std::string buffers;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& b = buffers_[i];
      buffers += fmt::format(
          "[[buffer]]\nname = \"{}\"\ntype = \"{}\"\n{}\ninit = \"zeros\"\n\n", b.name, b.type,
          b.count.empty() ? remark(fmt::format("count = \"{}\"", count_of(elements[i], n_)), comment)
                          : fmt::format("count = \"{}\"", b.count));
    }
    return fmt::format(
        "# Launch file for {}. The PTX does not say sizes and values: check each line, guesses first.\n"
        "[params]\n{}\n\n{}{}{}",
        ptx, remark(fmt::format("N = {}", n_), "a guess, for each argument that may be a size"), buffers,
        references_, launches_);
  }

  static std::string remark(const std::string& line, const std::string& comment) {
    constexpr int kColumn = 30;
    return fmt::format("{:<{}}# {}", line, std::max(kColumn, static_cast<int>(line.size()) + 1), comment);
  }

  void add_variables() {
    std::string comments;
    for (size_t v = 0; v < module_.variables.size(); ++v) {
      if (isa::is_texture(module_.variables[v]))
        references_ += texture(module_.variables[v].name, variables_[v]);
      else if (contents_[v].kind == isa::PointerUse::Kind::kAddress)
        references_ += pointer(module_.variables[v], contents_[v]);
      else
        comments += commented(module_.variables[v], variables_[v]);
    }
    references_ += comments;
  }

  /// The kernel as its source calls it, if only one of the file is called so.
  [[nodiscard]] std::string called(const isa::Function& kernel) const {
    const std::string name = core::short_kernel_name(kernel.name);
    const auto entries = module_.entries();
    const auto same = std::ranges::count_if(
        entries, [&](const isa::Function* other) { return core::means_kernel(name, other->name); });
    return same == 1 ? name : kernel.name;
  }

  /// A name for the launch file, from one of the PTX. nvcc calls a parameter by its kernel's mangled name and
  /// a number.
  std::string unused_name(const isa::Function& kernel, const std::string& parameter) {
    std::string name = parameter.starts_with(kernel.name)
                           ? called(kernel) + parameter.substr(kernel.name.size())
                           : parameter;
    if (names_.contains(name)) name = fmt::format("{}_{}", called(kernel), name);
    return free_name(name);
  }
  std::string free_name(std::string name) {
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "_");
    std::string free = name;
    for (int i = 2; names_.contains(free); ++i) free = fmt::format("{}_{}", name, i);
    names_.insert(free);
    return free;
  }

  std::string add_buffer(const std::string& name, const std::string& type, const std::string& count = "") {
    buffers_.push_back({name, type, count});
    return name;
  }

  /// A buffer and a texture in it.
  std::string texture(const std::string& name, const isa::PointerUse& use) {
    const isa::TextureShape shape = use.shape;
    const bool array = shape == isa::TextureShape::kA1d || shape == isa::TextureShape::kA2d;
    const int dimensions = shape == isa::TextureShape::k3d                                       ? 3
                           : shape == isa::TextureShape::k2d || shape == isa::TextureShape::kA2d ? 2
                                                                                                 : 1;
    const std::string texels = dimensions == 3 ? "N*N*N" : dimensions == 2 ? "N*N" : "N";
    const std::string buffer =
        add_buffer(free_name("texels_" + name), channel_name(use.element), array ? "4*" + texels : texels);
    return fmt::format("[[texture]]\nname = \"{}\"\nbuffer = \"{}\"\nwidth = \"N\"\n{}{}{}\n", name, buffer,
                       dimensions > 1 ? "height = \"N\"\n" : "", dimensions > 2 ? "depth = \"N\"\n" : "",
                       array ? "layers = 4\n" : "");
  }

  std::string argument(const isa::Function& kernel, const isa::Variable& p, const isa::PointerUse& use) {
    if (use.kind == isa::PointerUse::Kind::kTexture) {
      const std::string name = unused_name(kernel, p.name);
      references_ += texture(name, use);
      return fmt::format("\"{}\"", name);
    }
    if (use.kind == isa::PointerUse::Kind::kAddress)
      return fmt::format("\"{}\"", add_buffer(unused_name(kernel, p.name), element_name(use.element)));
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
    const auto [block, says] = block_of(kernel, use);
    std::vector<std::string> grid;
    for (size_t d = 0; d < static_cast<size_t>(std::max(use.grid_dimensions, 1)); ++d)
      grid.push_back(fmt::format("\"ceil_div(N, {})\"", d < block.size() ? block[d] : 16));
    dimensions_ = std::max({dimensions_, use.dimensions, use.grid_dimensions});
    launches_ += fmt::format(
        "[[launch]]\nkernel = \"{}\"\n{}\n{}\n{}args = [{}]\n\n", called(kernel),
        remark(fmt::format("grid = [{}]", fmt::join(grid, ", ")),
               grid.size() == 1 ? "a guess: a thread for each of N" : "a guess: a thread for each of N by N"),
        remark(fmt::format("block = [{}]", fmt::join(block, ", ")), says),
        use.dynamic_shared
            ? remark(fmt::format("dynamic_shared = {}", dynamic_shared(kernel)), "a guess, in bytes") + "\n"
            : "",
        args);
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

  /// And where it is from.
  [[nodiscard]] std::pair<std::vector<uint32_t>, std::string> block_of(const isa::Function& kernel,
                                                                       const isa::KernelUse& use) const {
    for (const auto* given : {&kernel.reqntid, &kernel.maxntid}) {
      if ((*given)[0] == 0) continue;
      std::vector<uint32_t> block{(*given)[0], std::max((*given)[1], 1u), std::max((*given)[2], 1u)};
      while (block.size() > 1 && block.back() == 1) block.pop_back();
      return {block, given == &kernel.reqntid ? "the kernel's .reqntid"
                                              : "the most that the kernel's .maxntid allows"};
    }
    return {guess_.block[use.dimensions - 1], "a guess"};
  }

  /// A pointer variable and the buffer that it points to.
  std::string pointer(const isa::Variable& v, const isa::PointerUse& use) {
    const std::string buffer = add_buffer(free_name("behind_" + v.name), element_name(use.element));
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
  const Guess& guess_;
  uint64_t n_ = 0;
  int dimensions_ = 1;
  std::vector<Buffer> buffers_;
  std::string references_, launches_;  ///< textures and variables; launches
  std::vector<isa::PointerUse> variables_,
      contents_;  ///< by Module::variables: what any kernel does with them
};

/// The first guess that can be run, with the buffers that it needs then.
std::string launch_file(const isa::Module& module, const std::string& ptx, const std::string& ptx_text) {
  const std::string name = std::filesystem::path(ptx).filename().string();
  for (const Guess& guess : kGuesses) {
    const LaunchWriter writer(module, guess);
    const auto reached = reached_elements(ptx, ptx_text, writer.roomy(name), guess.most_operations);
    if (reached) return writer.fitting(name, *reached);
  }
  return LaunchWriter(module, *std::rbegin(kGuesses)).roomy(name);
}

struct InitArguments {
  std::string ptx, out;
  bool force = false;
};

int write_launch_file(const InitArguments& a) {
  const std::string& ptx = a.ptx;
  refuse_what_is_no_ptx(ptx);
  const std::string ptx_text = core::read_text_file(ptx, core::kMaxPtxBytes);
  const isa::ParseResult parsed = isa::parse_module(ptx_text);
  for (const isa::Diagnostic& d : parsed.diagnostics) print_error("{}\n", isa::format_diagnostic(ptx, d));
  if (!parsed.ok()) return kBadInput;
  if (parsed.module.entries().empty()) core::raise_input_error({ptx}, "the module has no .entry to launch");
  const std::string path =
      a.out.empty() ? std::filesystem::path(ptx).replace_extension(".toml").string() : a.out;
  check_output("--out", path, {ptx});
  if (!a.force && is_there(path))
    core::raise_input_error({path, 0, 0}, "exists already", "give --force to overwrite it, or --out FILE");
  core::write_whole_file(path, launch_file(parsed.module, ptx, ptx_text));
  fmt::print("{} written; check every line of it\n", path);
  return kGood;
}

}  // namespace

void add_init_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<InitArguments>();
  CLI::App* init = program.add_subcommand("init", "Write a launch file to fill in for a PTX file");
  init->add_option("ptx", a->ptx, "PTX file")->required();
  init->add_option("--out", a->out, "Launch file (default: beside the PTX)");
  init->add_flag("--force", a->force, "Overwrite an existing file");
  init->callback([a, &code] { code = write_launch_file(*a); });
}

}  // namespace gpusim::cli
