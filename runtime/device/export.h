// `gpusim run --export FOLDER`: what a program does with its device, written as a launch file with PTX and
// data, so that a case becomes a test that needs no program. Of a run for values: copies, fills and launches
// in the order in which they happen, in one stream. Memory keeps its addresses, so that pointers inside it
// are right. Either all launches are written, with the copies and fills between them, or those that are
// chosen: device memory is then written as it is before each of them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "components/checker/objects.h"
#include "isa/exec/micro_op.h"
#include "runtime/device/work.h"
#include "simcore/launch/launch.h"

namespace gpusim::runtime {

class Export {
 public:
  /// `all`: no launches are chosen. Throws Failure if the folder cannot be made.
  Export(std::filesystem::path folder, const core::DeviceMemory& memory, bool all);
  /// Leaves nothing behind if finish() was not called.
  ~Export();
  Export(const Export&) = delete;
  Export& operator=(const Export&) = delete;

  /// `type`: that a variable is declared with.
  void allocated(const core::Allocation& allocation, comp::GlobalObject::Kind kind, bool host_writes,
                 std::string_view type);
  /// Before its memory is gone.
  void released(uint64_t base);
  void copied(const Copy& copy);
  void filled(const Fill& fill);
  /// A launch that is written. `texts`: of its module.
  void before_launch(const core::LaunchSpec& spec, const isa::KernelImage& image,
                     std::span<const std::byte> parameters, const std::vector<Module::Text>& texts);
  void after_launch();
  /// One that is not.
  void skipped();
  /// Puts the folder in its place. `title`: a comment. Returns how many launches it has; 0: there is no
  /// folder.
  uint64_t finish(const std::string& title);

 private:
  struct Object {
    std::string name;
    core::ElementType type = core::ElementType::kU8;
    uint64_t bytes = 0;
    bool variable = false, constant = false;
    bool host_writes = false;  ///< the program may write to it directly
    bool in_use = false;       ///< some step names it
    std::string init;          ///< file of its first content
    uint64_t content = 0;      ///< fingerprint after the last step that is written
    bool expected = false;     ///< a file has what it holds at the end
  };
  struct Place {
    Object* object = nullptr;
    uint64_t base = 0;
  };
  [[nodiscard]] Place object_at(const void* address);
  [[nodiscard]] std::span<const std::byte> bytes_of(uint64_t base) const;
  [[nodiscard]] static uint64_t count_of(const Object& object) {
    return object.bytes / core::element_bytes(object.type);
  }
  [[nodiscard]] static std::string key(const Object& object) {
    return object.variable ? "variable" : "buffer";
  }
  /// Writes bytes as the next data file and returns its name.
  std::string data(std::span<const std::byte> bytes);
  void write_file(const std::string& name, std::span<const std::byte> bytes);
  /// From here on the object holds what it holds now; takes no simulated time.
  void bring(Object& object, uint64_t base);
  /// What the host or launches that are not written have changed.
  void bring_changes();
  void expect(Object& object, uint64_t base);
  [[nodiscard]] std::string argument(const isa::KernelParam& p, std::span<const std::byte> bytes);
  void use_program(const std::string& kernel, const std::vector<Module::Text>& texts);
  /// Programs are linked to one: throws Failure if two variables that are used have one name.
  void check_variables() const;

  std::filesystem::path folder_, partial_;
  const core::DeviceMemory& memory_;
  bool all_;
  bool known_ = true;  ///< nothing has happened that is not written
  bool finished_ = false;
  std::map<uint64_t, Object> objects_;          ///< by address
  std::set<std::string> buffers_;               ///< names so far
  std::vector<std::string> gone_;               ///< declarations of what has been released
  std::vector<uint64_t> programs_;              ///< fingerprints of their texts
  std::map<std::string, uint64_t> of_kernels_;  ///< the program that a kernel's name stands for
  std::vector<std::string> files_;              ///< of PTX
  std::string steps_, expects_, sources_;
  uint64_t data_files_ = 0, launches_ = 0;
};

}  // namespace gpusim::runtime
