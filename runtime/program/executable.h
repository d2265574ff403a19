// What kind of program a file is, as far as its ELF headers say.
#pragma once
#include <cstdint>
#include <string>

namespace gpusim::runtime {

struct Executable {
  enum class Kind : uint8_t {
    kProgram,
    kForeign,  ///< ELF of another kind of computer
    kOther     ///< no ELF: a script
  };
  Kind kind = Kind::kOther;
  std::string what;              ///< of kForeign
  bool has_device_code = false;  ///< fat binaries are in it
  bool needs_runtime = false;    ///< libcudart.so
  std::string needs_runtime_name;
  bool needs_driver = false;    ///< libcuda.so
  bool needs_compiler = false;  ///< names libnvrtc.so
  std::string fixed_path;       ///< DT_RPATH, which goes before LD_LIBRARY_PATH
};

/// True if what it loads or starts may compile kernels at run time: it says so itself, or is a script or an
/// interpreter.
[[nodiscard]] bool may_compile(const Executable& program);
/// Throws core::InputError if the file cannot be read or is damaged.
[[nodiscard]] Executable read_executable(const std::string& file);

}  // namespace gpusim::runtime
