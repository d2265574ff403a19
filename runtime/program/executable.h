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
  bool needs_driver = false;  ///< libcuda.so
  std::string fixed_path;     ///< DT_RPATH, which goes before LD_LIBRARY_PATH
};

/// Throws core::InputError if the file cannot be read or is damaged.
[[nodiscard]] Executable read_executable(const std::string& file);

}  // namespace gpusim::runtime
