#include "study/identity.h"

#include <fmt/format.h>

#include "simcore/config/load.h"
#include "simcore/text/json_text.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::study {

namespace {

/// Of a file's content; of none, nothing.
std::string file_hash(const std::string& path) {
  return path.empty() ? std::string() : core::sha256_hex(core::read_text_file(path, core::kAnySize));
}

}  // namespace

void complete(Identity& id, const comp::SimulationOptions& o) {
  std::string ptx = o.ptx_text, data;
  for (const auto& file : o.linked) ptx += "\n" + file.text;
  for (const std::string& file : o.launch.data_files()) data += file_hash(file) + "\n";
  for (const core::ExpectSpec& e : o.launch.expects) data += file_hash(e.file) + "\n";
  id.machine_sha256 = core::sha256_hex(core::show_machine(o.machine, false));
  id.ptx_sha256 = core::sha256_hex(ptx);
  id.launch_sha256 = core::sha256_hex(o.launch.text);
  id.data_sha256 = core::sha256_hex(data);
  id.key = core::sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", id.program,
                                        id.machine_sha256, id.ptx_sha256, id.launch_sha256, id.data_sha256,
                                        fmt::join(id.params, "\t"), id.sms, id.lowering, id.cache, id.seed,
                                        id.max_cycles, id.functional) +
                            (id.registers.empty() ? "" : fmt::format("{}\n", fmt::join(id.registers, "\t"))));
}

std::string identity_json(const Identity& id) {
  const auto list = [](const std::vector<std::string>& texts) {
    std::string out = "[";
    for (size_t i = 0; i < texts.size(); ++i) out += (i == 0 ? "" : ", ") + core::json_quoted(texts[i]);
    return out + "]";
  };
  return fmt::format(
      "{{\"key\": \"{}\", \"program\": {}, \"machine\": {}, \"set\": {}, \"params\": {}, \"sms\": {}, "
      "\"core_clock\": {}, \"interconnect_clock\": {}, \"dram_clock\": {}, \"lowering\": {}, \"cache\": {}, "
      "\"registers\": {}, \"seed\": {}, \"max_cycles\": {}, \"functional\": {}, \"machine_sha256\": \"{}\", "
      "\"ptx_sha256\": "
      "\"{}\", \"launch_sha256\": \"{}\", "
      "\"data_sha256\": \"{}\"}}",
      id.key, core::json_quoted(id.program), core::json_quoted(id.machine), list(id.sets), list(id.params),
      id.sms, core::json_quoted(id.core_clock), core::json_quoted(id.interconnect_clock),
      core::json_quoted(id.dram_clock), core::json_quoted(id.lowering), core::json_quoted(id.cache),
      list(id.registers), id.seed, id.max_cycles, id.functional, id.machine_sha256, id.ptx_sha256,
      id.launch_sha256, id.data_sha256);
}

}  // namespace gpusim::study
