#include "runtime/program/executable.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::runtime {

namespace {

/// Reads of a file's bytes; what lies outside reads as zeros or as nothing.
struct Bytes {
  std::string_view text;
  template <class T>
  [[nodiscard]] T at(uint64_t offset) const {
    T value{};
    if (offset <= text.size() && sizeof(T) <= text.size() - offset)
      std::memcpy(&value, text.data() + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view word(uint64_t offset) const {
    if (offset >= text.size()) return {};
    const std::string_view rest = text.substr(offset);
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }
};

std::vector<Elf64_Shdr> sections_of(const Bytes& file, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    sections.push_back(file.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
  return sections;
}

void read_dynamic(const Bytes& file, const Elf64_Shdr& dynamic, const Elf64_Shdr& names, Executable& e) {
  for (uint64_t i = 0; i + sizeof(Elf64_Dyn) <= dynamic.sh_size; i += sizeof(Elf64_Dyn)) {
    const auto entry = file.at<Elf64_Dyn>(dynamic.sh_offset + i);
    if (entry.d_tag == DT_NULL) return;
    const std::string_view name = file.word(names.sh_offset + entry.d_un.d_val);
    if (entry.d_tag == DT_RPATH) e.fixed_path = name;
    if (entry.d_tag != DT_NEEDED) continue;
    if (name.starts_with("libcudart.so")) e.needs_runtime = true, e.needs_runtime_name = name;
    if (name.starts_with("libcuda.so")) e.needs_driver = true;
  }
}

}  // namespace

bool may_compile(const Executable& program) {
  return program.needs_compiler ||
         (!program.has_device_code && !program.needs_runtime && !program.needs_driver);
}

Executable read_executable(const std::string& file) {
  const std::string text = core::read_text_file(file, core::kAnySize);
  const Bytes bytes{text};
  Executable e;
  if (text.size() < sizeof(Elf64_Ehdr) || std::memcmp(text.data(), ELFMAG, SELFMAG) != 0) return e;
  const auto header = bytes.at<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
    e.kind = Executable::Kind::kForeign;
    e.what =
        header.e_ident[EI_CLASS] != ELFCLASS64 ? "32 bits" : fmt::format("ELF machine {}", header.e_machine);
    return e;
  }
  e.kind = Executable::Kind::kProgram;
  e.needs_compiler = text.find("libnvrtc.so") != std::string::npos;  // linked with it, or loaded by its name
  const std::vector<Elf64_Shdr> sections = sections_of(bytes, header);
  if (header.e_shstrndx >= sections.size()) return e;
  const uint64_t names = sections[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& s : sections) {
    const std::string_view name = bytes.word(names + s.sh_name);
    if (name == ".nvFatBinSegment" || name == ".nv_fatbin" || name == "__nv_relfatbin")
      e.has_device_code = true;
    if (s.sh_type == SHT_DYNAMIC && s.sh_link < sections.size())
      read_dynamic(bytes, s, sections[s.sh_link], e);
  }
  return e;
}

}  // namespace gpusim::runtime
