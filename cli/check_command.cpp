// `gpusim check`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/report.h"
#include "isa/exec/executor.h"
#include "isa/lowering/lowering.h"
#include "isa/ptx/diagnostics.h"
#include "isa/ptx/linker.h"
#include "isa/ptx/parser/parser.h"
#include "isa/ptx/verifier/verifier.h"
#include "simcore/config/load.h"
#include "simcore/text/json_text.h"
#include "simcore/text/text_file.h"

namespace gpusim::cli {

namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::string config, lowering = "schedule";
  bool linked = false, json = false;
};

/// Parses and verifies one file.
isa::Module load(const std::string& file, uint32_t number, isa::Diagnostics& messages) {
  refuse_what_is_no_ptx(file);
  isa::ParseResult parsed = isa::parse_module(core::read_text_file(file, core::kMaxPtxBytes));
  isa::Diagnostics own = parsed.diagnostics;
  if (!isa::has_errors(own)) {
    const isa::Diagnostics verified = isa::verify_module(parsed.module);
    own.insert(own.end(), verified.begin(), verified.end());
  }
  for (isa::Diagnostic& d : own) d.loc.file = number;
  messages.insert(messages.end(), own.begin(), own.end());
  return std::move(parsed.module);
}

std::string json_kernel(const isa::KernelImage& k) {
  std::string classes;
  for (size_t i = 0; i < k.machine_counts.size(); ++i)
    classes += fmt::format("{}\"{}\": {}", i == 0 ? "" : ", ", isa::kMachineClasses[i], k.machine_counts[i]);
  return fmt::format(
      "{{\"name\": \"{}\", \"registers\": {}, \"spilled_registers\": {}, \"shared_bytes\": {}, "
      "\"operations\": {}, \"machine_instructions\": {}, \"classes\": {{{}}}}}",
      core::json_escaped(k.name), k.registers, k.spilled_registers,
      k.static_shared_bytes + k.system_shared_bytes, k.ops.size(), k.machine_instructions(), classes);
}

std::string json_message(const std::vector<std::string>& files, const isa::Diagnostic& d) {
  return fmt::format(
      "{{\"severity\": \"{}\", \"file\": \"{}\", \"line\": {}, \"column\": {}, \"message\": \"{}\", "
      "\"hint\": \"{}\"}}",
      d.severity == isa::Diagnostic::Severity::kError ? "error" : "warning",
      core::json_escaped(files[d.loc.file]), d.loc.line, d.loc.column, core::json_escaped(d.message),
      core::json_escaped(d.hint));
}

/// `messages`: why it is not good, and warnings; JSON objects like `kernels`.
std::string json_program(const std::vector<std::string>& files, bool good,
                         const std::vector<std::string>& messages, const std::vector<std::string>& kernels) {
  std::string names;
  for (const std::string& f : files)
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", core::json_escaped(f));
  return fmt::format("{{\"files\": [{}], \"good\": {}, \"messages\": [{}], \"kernels\": [{}]}}", names, good,
                     fmt::join(messages, ", "), fmt::join(kernels, ", "));
}

/// Of a program whose files cannot be read. The object names the file, so its message does not.
std::string json_unreadable(const std::vector<std::string>& files, std::string_view why) {
  for (const std::string& file : files) {
    const std::string place = file + ": error: ";
    if (why.starts_with(place)) why.remove_prefix(place.size());
  }
  const std::string message = fmt::format(
      "{{\"severity\": \"error\", \"file\": \"{}\", \"line\": 0, \"column\": 0, \"message\": \"{}\", "
      "\"hint\": \"\"}}",
      files.size() == 1 ? core::json_escaped(files[0]) : "", core::json_escaped(why));
  return json_program(files, false, {message}, {});
}

/// Parses, verifies and lowers the files of one program; prints every message. True if all is well; what is
/// to be said of it goes to `report`.
bool check_program(const CheckArguments& arguments, const std::vector<std::string>& files,
                   const core::MachineConfig* machine, std::string& report) {
  isa::Diagnostics messages;
  std::vector<isa::Module> modules;
  modules.reserve(files.size());
  for (const std::string& f : files)
    modules.push_back(load(f, static_cast<uint32_t>(modules.size()), messages));
  size_t kernels = 0;
  for (const isa::Module& m : modules) kernels += m.entries().size();
  isa::Module module;
  if (!isa::has_errors(messages)) {
    isa::LinkResult linked = isa::link_modules(std::move(modules), files);
    module = std::move(linked.module);
    messages.insert(messages.end(), linked.diagnostics.begin(), linked.diagnostics.end());
  }
  std::vector<std::string> lowered;
  if (!isa::has_errors(messages)) {
    isa::LoweringOptions options;
    options.level = isa::lowering_level(arguments.lowering);
    if (machine != nullptr) {
      isa::set_machine(options, *machine);
    } else {
      options.machine_capability = module.target_sm;
      options.max_registers = 255;
      options.threads_per_sm = isa::threads_per_sm(module.target_sm);
    }
    options.address_of = isa::stand_in_addresses();
    // What verify warned about as unsupported, lowering refuses: keep one message a statement.
    std::erase_if(messages, [](const isa::Diagnostic& d) {
      return d.message.find("not supported yet") != std::string::npos;
    });
    for (const isa::Function* entry : module.entries()) {
      const auto image = isa::lower_kernel(module, *entry, options);
      if (const auto* errors = std::get_if<isa::Diagnostics>(&image))
        messages.insert(messages.end(), errors->begin(), errors->end());
      else
        lowered.push_back(json_kernel(std::get<isa::KernelImage>(image)));
    }
  }
  for (const isa::Diagnostic& d : messages) print_error("{}\n", isa::format_diagnostic(files[d.loc.file], d));
  const std::string file = fmt::format("{}", fmt::join(files, " + "));
  const bool good = !isa::has_errors(messages);
  std::vector<std::string> said;
  for (const isa::Diagnostic& d : messages) said.push_back(json_message(files, d));
  if (arguments.json)
    report = json_program(files, good, said, lowered);
  else if (good)
    report = fmt::format("{}: good, {} kernel{}", file, kernels, kernels == 1 ? "" : "s");
  else
    report = fmt::format("{}: not runnable ({} of {} kernels lowered)", file, lowered.size(), kernels);
  return good;
}

int check(const CheckArguments& arguments) {
  const std::vector<std::string>& files = arguments.files;
  const std::string& config = arguments.config;
  const bool linked = arguments.linked;
  core::MachineConfig machine;
  if (!config.empty()) machine = core::load_machine(config, {}, config_folders());
  bool good = true;
  std::vector<std::vector<std::string>> programs;
  if (linked) programs.push_back(files);
  for (size_t i = 0; !linked && i < files.size(); ++i) programs.push_back({files[i]});
  std::vector<std::string> reports;
  for (const std::vector<std::string>& program : programs) {
    try {
      std::string report;
      good = check_program(arguments, program, config.empty() ? nullptr : &machine, report) && good;
      if (arguments.json)
        reports.push_back(report);
      else
        fmt::print("{}\n", report);
    } catch (const core::InputError& e) {
      print_error("{}\n", e.what());
      if (arguments.json) reports.push_back(json_unreadable(program, e.what()));
      good = false;
    }
  }
  if (arguments.json) fmt::print("{{\"programs\": [{}]}}\n", fmt::join(reports, ", "));
  return good ? kGood : kBadInput;
}

}  // namespace

void add_check_command(CLI::App& program, int& code) {
  const auto a = std::make_shared<CheckArguments>();
  CLI::App* check_files =
      program.add_subcommand("check", "Parse, verify and lower PTX files; list what is not supported");
  check_files->add_option("files", a->files, "PTX files")->required();
  check_files->add_option("--config", a->config, "Lower for this machine (default: the module's own target)");
  check_files->add_option("--lowering", a->lowering, "Lowering passes: none, clean, schedule (default)")
      ->check(CLI::IsMember({"none", "clean", "schedule"}));
  check_files->add_flag("--link", a->linked, "The files are one program: link them");
  check_files->add_flag(
      "--json", a->json,
      "Print each kernel's registers and size as a JSON object, and why a program is not good");
  check_files->callback([a, &code] { code = check(*a); });
}

}  // namespace gpusim::cli
