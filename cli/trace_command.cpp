// `gpusim trace`: the accesses of a kernel's threads to global memory, as a trace for `gpusim reuse`. Values
// only: nothing is timed.
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/commands.h"
#include "components/simulation.h"
#include "simcore/config/load.h"
#include "simcore/text/input_error.h"

namespace gpusim::cli {

namespace {

namespace fs = std::filesystem;

/// A text file that has its name only once it is whole.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
    std::error_code error;
    if (fs::exists(path_, error) && !fs::is_regular_file(path_, error))
      throw core::InputError(fmt::format("{}: error: --out replaces regular files only", path_));
    file_ = std::fopen(part_.c_str(), "w");
    if (file_ == nullptr) fail();
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(part_.c_str());
  }
  fmt::memory_buffer& text() { return text_; }
  void flush(size_t at_least) {
    if (text_.size() < at_least) return;
    failed_ |= std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size();
    text_.clear();
  }
  void commit() {
    flush(0);
    failed_ |= std::fclose(std::exchange(file_, nullptr)) != 0;
    if (failed_ || std::rename(part_.c_str(), path_.c_str()) != 0) {
      const int reason = errno;
      std::remove(part_.c_str());
      errno = reason;
      fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw core::InputError(fmt::format("{}: error: cannot be written: {}", path_, std::strerror(errno)));
  }
  std::string path_, part_;
  std::FILE* file_ = nullptr;
  bool failed_ = false;
  fmt::memory_buffer text_;
};

uint32_t chosen(const TraceArguments& a, const comp::Simulation& simulation) {
  const size_t launches = simulation.runs().size();
  if (a.number < 0 && launches == 1) return 0;
  if (a.number >= 0 && static_cast<size_t>(a.number) < launches) return static_cast<uint32_t>(a.number);
  throw core::InputError(
      fmt::format("gpusim: error: the launch file has {} launches: --number 0 to {} chooses one", launches,
                  launches - 1));
}

}  // namespace

void add_trace_command(CLI::App& app, TraceArguments& a, int& code) {
  CLI::App* command = app.add_subcommand(
      "trace", "Write the accesses of a kernel's threads to global memory, without timing");
  command->add_option("ptx", a.run.ptx, "PTX file")->required();
  command->add_option("-o,--out", a.run.out, "Trace file")->required();
  command->add_option("--launch", a.run.launch, "Launch file (default: beside the PTX)");
  command->add_option("--param", a.run.params, "Launch parameter NAME=VALUE (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--number", a.number, "Which of several launches, from 0 (all before it run too)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--config", a.run.config,
                      "Machine that the program believes to run on (default: h200)");
  command->add_option("--seed", a.run.seed, "Seed of random buffers");
  command->callback([&a, &code] { code = trace_command(a); });
}

int trace_command(const TraceArguments& a) {
  comp::SimulationOptions o;
  o.machine = core::load_machine(a.run.config.empty() ? "h200" : a.run.config, {}, config_folders());
  o.ptx_name = a.run.ptx;
  o.ptx_text = read_file(a.run.ptx);
  o.launch = load_launch(a.run);
  o.launch.expects.clear();
  for (const std::string& file : o.launch.link) o.linked.push_back({file, read_file(file)});
  o.functional = true;
  uint32_t launch = 0;
  uint64_t accesses = 0;
  WholeFile* to = nullptr;
  o.trace = [&](const comp::TracedAccess& t) {
    if (t.launch != launch) return;
    // What is wider than a lane's share of a transaction is so many accesses.
    for (uint32_t done = 0; done < t.bytes; done += 16) {
      fmt::format_to(std::back_inserter(to->text()), "{} {} {} {}\n", t.thread, t.store ? 1 : 0,
                     t.address + done, std::min(16u, t.bytes - done));
      ++accesses;
    }
    to->flush(size_t{1} << 20);
  };
  comp::Simulation simulation(std::move(o));
  launch = chosen(a, simulation);
  WholeFile file(a.run.out);
  to = &file;
  const comp::Dim3 block = simulation.runs()[launch]->block;
  fmt::format_to(std::back_inserter(file.text()), "blocksize: {} {} {}\n", block.x, block.y, block.z);
  const comp::SimulationResult result = simulation.run();
  if (result.status != comp::SimulationResult::Status::kComplete) {
    print_error("{}: error: {}\n", a.run.ptx, result.reason);
    return kProgramFailed;
  }
  file.commit();
  fmt::print("{}: {} accesses of {} threads\n", a.run.out, accesses,
             simulation.runs()[launch]->num_blocks * simulation.runs()[launch]->threads_per_block);
  return kGood;
}

}  // namespace gpusim::cli
