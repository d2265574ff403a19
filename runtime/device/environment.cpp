// The device of a process that `gpusim run` has started: made from the environment, at the first use.
#include "runtime/device/environment.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "runtime/device/device.h"

namespace gpusim::runtime {

namespace {

std::string text_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::vector<std::string> list_of(const char* variable, char separator) {
  std::vector<std::string> items;
  std::stringstream in(text_of(variable));
  for (std::string item; std::getline(in, item, separator);)
    if (!item.empty()) items.push_back(item);
  return items;
}

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const std::string text = text_of(variable);
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 10);
  return text.empty() || *end != '\0' ? otherwise : value;
}

/// A program that starts others with the same environment has the file of the name; each of the others has
/// one with its process number. None has one if the name is none, as with --out.
std::string own_file(const std::string& out) {
  if (out.empty() || out == "none") return {};
  if (number_of(kOwnerVariable, 0) == static_cast<uint64_t>(getpid())) return out;
  const size_t dot = out.ends_with(".h5") ? out.size() - 3 : out.size();
  return fmt::format("{}.{}{}", out.substr(0, dot), getpid(), out.substr(dot));
}

/// The process, by command line.
std::string command_line() {
  std::ifstream in("/proc/self/cmdline");
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (char& c : text)
    if (c == '\0') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// To whom has started the program.
void tell(const char& what) {
  const auto descriptor = static_cast<int>(number_of(kFindingsVariable, 0));
  // If nobody listens any more, no signal ends the program.
  if (descriptor != 0) (void)send(descriptor, &what, 1, MSG_NOSIGNAL);
}

Device* device = nullptr;
pid_t owner = 0;
std::string no_device;  ///< why there is none

}  // namespace

DeviceOptions options_from_environment() {
  DeviceOptions o;
  o.config = text_of("GPUSIM_CONFIG");
  if (o.config.empty())
    throw Failure(Code::kNoDevice,
                  "no machine is named\n  hint: gpusim run --config MACHINE -- PROGRAM, or the variable "
                  "GPUSIM_CONFIG");
  o.sets = list_of("GPUSIM_SET", '\n');
  o.config_folders = list_of("GPUSIM_CONFIG_PATH", ':');
  o.config_folders.emplace_back("configs");
  o.functional = text_of("GPUSIM_FUNCTIONAL") == "1";
  o.timed = text_of("GPUSIM_TIMED");
  o.out = own_file(text_of("GPUSIM_OUT"));
  o.replace_other_runs = text_of("GPUSIM_FORCE") == "1";
  if (const std::string events = text_of("GPUSIM_EVENTS"); !events.empty()) o.events = events;
  if (const std::string lowering = text_of("GPUSIM_LOWERING"); !lowering.empty()) o.lowering = lowering;
  if (const std::string cache = text_of("GPUSIM_CACHE"); !cache.empty()) o.cache = cache;
  o.max_cycles = number_of("GPUSIM_MAX_CYCLES", o.max_cycles);
  o.sms = static_cast<uint32_t>(number_of("GPUSIM_SMS", 0));
  o.export_folder = text_of("GPUSIM_EXPORT");
  o.check = text_of("GPUSIM_CHECK");
  o.quiet = text_of("GPUSIM_QUIET") == "1";
  o.progress = !o.quiet && isatty(STDERR_FILENO) == 1;
  o.program_version = text_of("GPUSIM_VERSION");
  o.command_line = "run " + command_line();
  return o;
}

Device& current_device() {
  static std::mutex mutex;  // of several threads that come first
  const std::lock_guard lock(mutex);
  if (device != nullptr && owner == getpid()) return *device;
  // As on a real system: a child has its parent's memory, and not its GPU.
  if (device != nullptr) throw Failure(Code::kInitializationError);
  if (!no_device.empty()) throw Failure(Code::kNoDevice, no_device);
  try {
    // Never destroyed: programs call the library until the very end.
    device = new Device(options_from_environment());
    owner = getpid();
    finish_at_exit(*device);
  } catch (const Failure& failure) {
    no_device = failure.what();
    std::fprintf(stderr, "gpusim: %s\n", as_error(no_device).c_str());
    throw;
  }
  return *device;
}

void finish_at_exit(const Device& of) {
  if (&of != existing_device()) return;
  std::atexit([] {
    Device* const mine = existing_device();
    if (mine == nullptr) return;
    const std::lock_guard lock(mine->mutex());  // threads that nobody has joined go on until the very end
    mine->finish();
    if (mine->findings() != 0) tell(kToldFindings);
    if (mine->in_vain()) tell(kToldInVain);
  });
}

void flush_at_exit(const Device& of) {
  if (&of != existing_device()) return;
  std::atexit([] {
    Device* const mine = existing_device();
    if (mine == nullptr) return;
    const std::lock_guard lock(mine->mutex());
    mine->do_what_is_left();
  });
}

namespace {
thread_local bool uses_runtime = false;
thread_local const SmPart* new_owner = nullptr;
std::atomic<bool> runtime_used{false};
}  // namespace
void use_runtime() {
  if (std::exchange(uses_runtime, true)) return;
  runtime_used = true;
}
bool is_runtime_used() { return runtime_used; }
bool thread_uses_runtime() { return uses_runtime; }
const SmPart*& owner_of_new_streams() { return new_owner; }

Device* existing_device() { return owner == getpid() ? device : nullptr; }

}  // namespace gpusim::runtime
