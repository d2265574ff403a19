#include "cli/this_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "cli/version.h"
#include "simcore/text/sha256.h"
#include "simcore/text/text_file.h"

namespace gpusim::cli {

namespace {

/// The linker's hash of the program (GNU build ID), in hexadecimal; empty if it was linked without one.
std::string build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* found) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = object->dlpi_phdr[i];
          if (header.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + header.p_vaddr);
          const char* end = at + header.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
            const char* name = at + sizeof note;
            const char* content = name + padded(note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
              for (size_t b = 0; b < note.n_descsz; ++b)
                *static_cast<std::string*>(found) +=
                    fmt::format("{:02x}", static_cast<unsigned char>(content[b]));
            at = content + padded(note.n_descsz);
          }
        }
        return 1;  // the program is the first object
      },
      &id);
  return id;
}

}  // namespace

std::string program_identity() {
  static const std::string id = build_id();
  return fmt::format(
      "{} {}", kVersion,
      !id.empty() ? id : core::sha256_hex(core::read_text_file("/proc/self/exe", core::kAnySize)));
}

unsigned processors() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : static_cast<unsigned>(count);
}

}  // namespace gpusim::cli
