// Reads the plans that `gpusim export` writes (docs/correlate.md): plain text, a thing a line. Only the
// standard library: it is compiled where the GPU is.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hardware {

/// Wrong input, or what cannot be measured; the text is for people.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Argument {
  bool is_buffer = false;
  size_t buffer = 0;                 ///< index into Plan::buffers
  std::vector<unsigned char> bytes;  ///< of a number
};
struct Launch {
  std::string kernel;
  unsigned grid[3], block[3], shared_bytes;
  std::vector<Argument> arguments;
};
/// Where a buffer's content is the address of another buffer, or of bytes in it.
struct Address {
  uint64_t at = 0;  ///< byte
  std::string buffer;
  uint64_t offset = 0;
  size_t target = 0;  ///< index into Plan::buffers
};
struct Buffer {
  std::string name;
  uint64_t bytes = 0;
  std::vector<unsigned char> content;  ///< empty: zeros
  bool is_variable = false;            ///< of the module
  bool of_module = false;              ///< its first content is that of the loaded module
  std::vector<Address> addresses;
};
struct Plan {
  std::string folder, name, ptx, record_ptx, record_launch, sha256;
  bool fitting = false;
  uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> params;  ///< name, number
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;
};

/// The buffer in which the kernel notes clocks: it has the kernel's name and 32-bit words (before, after,
/// unused) of each warp. What is in it is a time, no result.
constexpr size_t kClockWords = 3;
bool notes_clocks(const Buffer& buffer, const Launch& launch);

/// Reads FOLDER/plan.txt, the PTX (into `ptx`) and the buffers' contents. Throws Error with file and line.
Plan read_plan(const std::string& folder);

}  // namespace hardware
