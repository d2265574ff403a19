#include "correlate/plan.h"

#include <fmt/format.h>

#include <filesystem>

#include "components/launch/declared_variables.h"
#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "simcore/launch/launch.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::correlate {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormat = "gpusim-plan 1";

void refuse_what_plans_cannot_say(const core::LaunchDescription& launch) {
  const auto refuse = [](const core::Where& where, const char* what) {
    core::raise_input_error(where, fmt::format("a plan for real hardware cannot say this: {}", what));
  };
  if (!launch.link.empty()) refuse({launch.path}, "several PTX files");
  if (!launch.textures.empty()) refuse(launch.textures.front().where, "textures");
  if (!launch.copies.empty()) refuse(launch.copies.front().where, "copies");
  if (!launch.memsets.empty()) refuse(launch.memsets.front().where, "memsets");
  if (!launch.host_steps.empty()) refuse(launch.host_steps.front().where, "host steps");
  if (!launch.loops.empty()) refuse(launch.loops.front().where, "loops");
  for (const core::LaunchSpec& l : launch.launches) {
    if (!l.late.empty()) refuse(l.late.front().expression.where, "numbers that the host reads from memory");
    if (l.stream != launch.launches.front().stream) refuse(l.where, "launches of several streams");
  }
}

isa::Module parse(const std::string& path, const std::string& text) {
  isa::ParseResult parsed = isa::parse_module(text);
  isa::Diagnostics messages = parsed.diagnostics;
  if (parsed.ok()) {
    const isa::Diagnostics more = isa::verify_module(parsed.module);
    messages.insert(messages.end(), more.begin(), more.end());
  }
  std::string errors;
  for (const isa::Diagnostic& d : messages)
    if (d.severity == isa::Diagnostic::Severity::kError)
      errors += (errors.empty() ? "" : "\n") + isa::format_diagnostic(path, d);
  if (!errors.empty()) throw core::InputError(errors);
  if (parsed.module.entries().empty()) core::raise_input_error({path}, "the module has no .entry to run");
  return std::move(parsed.module);
}

/// Of the kernel that a launch names.
const isa::Function& entry_of(const isa::Module& module, const core::LaunchSpec& spec,
                              const std::string& path) {
  const auto entries = module.entries();
  if (spec.kernel.empty() && entries.size() == 1) return *entries.front();
  isa::NearestName nearest(spec.kernel);
  for (const isa::Function* f : entries) {
    if (core::means_kernel(spec.kernel, f->name)) return *f;
    nearest.consider(f->name);
  }
  if (spec.kernel.empty())
    core::raise_input_error(spec.kernel_where,
                            fmt::format("{} has {} kernels: name the one to launch", path, entries.size()),
                            fmt::format("kernel = \"{}\"", entries.front()->name));
  core::raise_input_error(spec.kernel_where, fmt::format("{} has no kernel '{}'", path, spec.kernel),
                          nearest.hint());
}

std::vector<core::ParameterSlot> slots_of(const isa::Module& module, const isa::Function& entry,
                                          const std::string& path, uint32_t& param_bytes) {
  isa::LoweringOptions options;
  options.machine_capability = module.target_sm;
  options.address_of = isa::stand_in_addresses();
  auto lowered = isa::lower_kernel(module, entry, options);
  if (const auto* errors = std::get_if<isa::Diagnostics>(&lowered))
    throw core::InputError(isa::format_diagnostic(path, errors->front()));
  const auto& image = std::get<isa::KernelImage>(lowered);
  param_bytes = image.param_bytes;
  std::vector<core::ParameterSlot> slots;
  for (const isa::KernelParam& p : image.params)
    slots.push_back({p.name, std::string(isa::type_name(p.type)), p.offset, p.bytes, p.is_array});
  return slots;
}

/// `kernel` and `arg` lines of a launch.
std::string launch_lines(const isa::Module& module, const core::LaunchDescription& launch,
                         const core::LaunchSpec& spec, const std::string& path) {
  const isa::Function& entry = entry_of(module, spec, path);
  uint32_t param_bytes = 0;
  const auto slots = slots_of(module, entry, path, param_bytes);
  const std::vector<std::byte> block = core::pack_arguments(
      launch, spec, slots, param_bytes, [](uint32_t) { return uint64_t{0}; },
      [](uint32_t) { return uint64_t{0}; });
  std::string text =
      fmt::format("kernel {} {} {} {} {} {} {} {}\n", entry.name, spec.grid[0], spec.grid[1], spec.grid[2],
                  spec.block[0], spec.block[1], spec.block[2], spec.dynamic_shared);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (spec.arguments[i].kind == core::ArgumentSpec::Kind::kBuffer) {
      if (slots[i].bytes != 8)
        core::raise_input_error(spec.where,
                                fmt::format("{}: parameter '{}' holds an address of {} bytes; GPUs of "
                                            "today have 8",
                                            path, slots[i].name, slots[i].bytes));
      text += fmt::format("buffer {}\n", launch.buffers[spec.arguments[i].buffer].name);
      continue;
    }
    text += "bytes ";
    for (uint32_t b = 0; b < slots[i].bytes; ++b)
      text += fmt::format("{:02x}", std::to_integer<unsigned>(block[slots[i].offset + b]));
    text += '\n';
  }
  return text;
}

/// `content` or `variable` line, the file that it names, and where addresses stand in it. Returns the lines.
std::string content_lines(const core::LaunchDescription& launch, const core::BufferSpec& b,
                          const fs::path& folder) {
  const bool zeros = b.init.kind == core::InitSpec::Kind::kZeros || b.bytes() == 0;
  // What the launch file does not set has the PTX's own initial value, which loading the module brings.
  const bool own = b.variable && !b.init.given;
  std::string lines = fmt::format("{} {} {} {}\n", b.variable ? "variable" : "content", b.name, b.bytes(),
                                  own     ? "module"
                                  : zeros ? "zeros"
                                          : "file");
  for (const core::AddressElement& e : b.init.addresses) {
    if (core::element_bytes(b.type) != 8)
      core::raise_input_error(
          e.where, fmt::format("an address of {} bytes; GPUs of today have 8", core::element_bytes(b.type)));
    lines += fmt::format("address {} {} {}\n", e.index * core::element_bytes(b.type),
                         launch.buffers[e.target].name, e.offset);
  }
  if (zeros || own) return lines;
  std::vector<std::byte> content(b.bytes());
  core::fill_buffer(b, launch.seed, content);
  core::write_whole_file((folder / (b.name + ".bin")).string(),
                         {reinterpret_cast<const char*>(content.data()), content.size()});
  return lines;
}

}  // namespace

void write_plan(const PlanRequest& request, const std::string& folder) {
  const std::string ptx_text = core::read_text_file(request.ptx, core::kMaxPtxBytes);
  const std::string launch_path =
      request.launch.empty() ? fs::path(request.ptx).replace_extension(".toml").string() : request.launch;
  core::LaunchDescription launch = core::load_launch(launch_path, request.params, request.seed);
  refuse_what_plans_cannot_say(launch);
  const isa::Module module = parse(request.ptx, ptx_text);
  core::bind_variables(launch, comp::declared_variables(module, {request.ptx}), request.ptx);
  const fs::path to = fs::absolute(folder).lexically_normal() / "";
  const fs::path out = to.parent_path(), above = out.parent_path();
  const std::string file = fs::path(request.ptx).filename().string();
  std::string plan =
      fmt::format("{}\nname {}\nptx {}\nrecord_ptx {}\nrecord_launch {}\nsha256 {}\nfitting {}\nseed {}\n",
                  kFormat, request.name.empty() ? fs::path(request.ptx).stem().string() : request.name, file,
                  (out.filename() / file).string(),
                  fs::absolute(launch_path).lexically_normal().lexically_relative(above).string(),
                  core::sha256_hex(ptx_text), request.fitting ? 1 : 0, request.seed);
  for (const auto& [name, value] : launch.params)
    plan += value.is_integer ? fmt::format("param {} {}\n", name, value.integer)
                             : fmt::format("param {} {}\n", name, value.real);
  std::string launches;
  for (const core::LaunchSpec& spec : launch.launches)
    for (uint32_t i = 0; i < spec.repeat; ++i) launches += launch_lines(module, launch, spec, request.ptx);
  std::error_code error;
  fs::create_directories(out, error);
  if (error) core::raise_input_error({folder}, fmt::format("cannot be made: {}", error.message()));
  // The plan comes last and an old one goes first: with a plan, all that it names is there and belongs to it.
  const std::string plan_file = (out / "plan.txt").string();
  if (!fs::remove(plan_file, error) && error)
    core::raise_input_error({plan_file}, fmt::format("cannot be replaced: {}", error.message()));
  for (const core::BufferSpec& b : launch.buffers) plan += content_lines(launch, b, out);
  core::write_whole_file((out / file).string(), ptx_text);
  core::write_whole_file(plan_file, plan + launches);
}

}  // namespace gpusim::correlate
