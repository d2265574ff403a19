#include "components/simulation/program.h"

#include <fmt/format.h>

#include <utility>

#include "isa/ptx/linker.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "simcore/text/input_error.h"

namespace gpusim::comp {

void report_diagnostics(const isa::Diagnostics& diagnostics, const std::vector<std::string>& files,
                        const SimulationOptions& options) {
  std::string errors;
  for (const isa::Diagnostic& d : diagnostics) {
    const std::string text = isa::format_diagnostic(files[d.loc.file], d);
    if (d.severity == isa::Diagnostic::Severity::kError)
      errors += (errors.empty() ? "" : "\n") + text;
    else if (options.on_warning)
      options.on_warning(text);
  }
  if (!errors.empty()) throw core::InputError(errors);
}

namespace {

isa::Module load_module(const SimulationOptions& options, const std::string& name, const std::string& text) {
  isa::ParseResult parsed = isa::parse_module(text);
  report_diagnostics(parsed.diagnostics, {name}, options);
  report_diagnostics(isa::verify_module(parsed.module), {name}, options);
  return std::move(parsed.module);
}

void check_target(const SimulationOptions& options, const isa::Module& module) {
  const int64_t capability = options.machine.gpu.compute_capability;
  if (module.target_sm <= capability) return;
  const std::string text =
      fmt::format("the module's target sm_{} is above the machine's compute capability {}.{}",
                  module.target_sm, capability / 10, capability % 10);
  if (options.strict_target) throw core::InputError(fmt::format("{}: error: {}", options.ptx_name, text));
  if (options.on_warning)
    options.on_warning(fmt::format("{}: warning: {}; values follow the target, timing follows the machine",
                                   options.ptx_name, text));
}

}  // namespace

isa::Module load_program(const SimulationOptions& options) {
  std::vector<isa::Module> modules;
  std::vector<std::string> names{options.ptx_name};
  modules.push_back(load_module(options, options.ptx_name, options.ptx_text));
  for (const SimulationOptions::PtxFile& file : options.linked) {
    names.push_back(file.name);
    modules.push_back(load_module(options, file.name, file.text));
  }
  isa::LinkResult linked = isa::link_modules(std::move(modules), names);
  report_diagnostics(linked.diagnostics, names, options);
  check_target(options, linked.module);
  if (linked.module.entries().empty())
    throw core::InputError(fmt::format("{}: error: the module has no .entry to run", options.ptx_name));
  return std::move(linked.module);
}

}  // namespace gpusim::comp
