// The end of a run: what is recorded of it, and what is said.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "components/checker/check_report.h"
#include "components/simulation/table_builder.h"
#include "runtime/device/device.h"
#include "runtime/device/environment.h"
#include "runtime/device/work.h"
#include "simcore/memory/fingerprint.h"
#include "simcore/text/kernel_name.h"
#include "simcore/text/names.h"

namespace gpusim::runtime {

namespace {

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} us", seconds * 1e6);
}

}  // namespace

void Device::write_launches(core::Recorder& recorder) const {
  comp::TableBuilder t("program_launches", "launches of the program, in the order in which it issued them");
  t.column("timed", "1",
           "1: simulated cycle by cycle, the kernel of this number in /kernels; 0: for values only");
  t.column("stream", "1", "number of the stream, 0 for the legacy default stream");
  for (const char* name : {"grid_x", "grid_y", "grid_z"}) t.column(name, "blocks", "of the grid");
  for (const char* name : {"block_x", "block_y", "block_z"}) t.column(name, "threads", "of the block");
  const bool nested =
      std::ranges::any_of(records_, [](const LaunchRecord& r) { return r.parent != kNoParent; });
  if (nested)
    t.column("parent", "1",
             "row of the launch whose kernel has launched it; 18446744073709551615: the host has");
  t.text_column("name", "of the kernel");
  for (const LaunchRecord& r : records_) {
    for (const uint64_t v :
         {uint64_t{r.timed}, uint64_t{r.stream}, uint64_t{r.grid.x}, uint64_t{r.grid.y}, uint64_t{r.grid.z},
          uint64_t{r.block.x}, uint64_t{r.block.y}, uint64_t{r.block.z}})
      t.cell(v);
    if (nested) t.cell(r.parent);
    t.text(0, *r.name);
  }
  t.write_for_run(recorder, records_.size());
}

/// Advice and comparisons read what kernels do in the whole text: operations name a part of it.
void Device::write_new_texts(core::Recorder& recorder) {
  constexpr uint64_t kMost = uint64_t{64} << 20;  // all together; libraries of kernels are larger
  while (texts_written_ < timed_texts_.size()) {
    const Module::Text& text = timed_texts_[texts_written_];
    if (text_bytes_ + text.ptx.size() > kMost) return;
    text_bytes_ += text.ptx.size();
    comp::TableBuilder t(fmt::format("program_ptx/{}", texts_written_++), "a PTX file of the program");
    t.text_column("file", "as the tables per_pc of its kernels name it");
    t.text_column("text", "all of it");
    t.text(0, text.name);
    t.text(1, text.ptx);
    t.write_for_run(recorder, 1);
  }
}

void Device::note_launch(Kernel& kernel, LaunchRecord record) {
  if (kernel.launched_name_ == nullptr) {
    // A module that was loaded again has the names of the one before.
    const auto known = std::ranges::find(names_, kernel.name());
    kernel.launched_name_ = known != names_.end() ? &*known : &names_.emplace_back(kernel.name());
    flush_at_exit(*this);  // before what compiling it has made for the whole process is destroyed
  }
  last_name_ = record.name = kernel.launched_name_;
  if (simulation_.out.empty()) return;
  records_.push_back(record);
  if (Module& module = kernel.module(); record.timed && !std::exchange(module.recorded_, true))
    for (const Module::Text& text : module.texts_)
      // A module that was loaded again has the texts of the one before.
      if (std::ranges::find(timed_texts_, text.ptx, &Module::Text::ptx) == timed_texts_.end())
        timed_texts_.push_back(text);
}

void Device::note_time(const comp::KernelResult& result) {
  const auto [at, is_new] = place_in_timed_.try_emplace(result.name, timed_.size());
  if (is_new) timed_.push_back({result.name});
  TimedKernel& kernel = timed_[at->second];
  ++kernel.launches;
  kernel.cycles += result.cycles;
  kernel.seconds += result.time_s;
}

void Device::do_what_is_left() {
  if (finished_) return;
  try {
    if (fault_) return;
    if (!open_.empty()) return go_on_at_end();
    ends_ = true;
    wait_for_machine();
    if (!machine_is_busy()) flush();
    ends_ = false;
  } catch (const Failure&) {
    // It has been told, and the file keeps what there is.
  }
}

void Device::finish() {
  if (finished_) return;
  do_what_is_left();
  stop_beside();
  give_up_what_waits();
  finished_ = true;
  services_.flush();
  std::fflush(stdout);
  if (live_ != nullptr) {
    std::vector<comp::MemoryFingerprint> contents;
    if (!fault_)
      for (const core::Allocation& a : memory_.allocations())
        if (a.bytes != 0 && !a.of_host)
          contents.push_back({a.name, a.bytes, core::fingerprint({a.data, a.bytes})});
    try {
      live_->close(contents, [this](core::Recorder& recorder) {
        write_launches(recorder);
        write_new_texts(recorder);
      });
    } catch (const std::exception& error) {
      warn(as_error(error.what()));
    }
  }
  tell_unchosen();
  end_export();
  in_vain_ = in_vain_ || (live_ != nullptr && !options_.out.empty() && !live_->result().recorded);
  tell_findings();
  if (findings() != 0 || (checker_ != nullptr && !options_.quiet)) {
    std::string text = comp::check_summary(simulation_.checks, findings(), checker_->log().counts());
    text.pop_back();
    warn(text);
  }
  if (!options_.quiet) report();
}

void Device::tell_unchosen() {
  const bool asked = !options_.timed.empty() && options_.timed != "all" && launch_count_ != 0;
  if (!asked || timed_count_ != 0 || options_.functional) return;
  in_vain_ = true;
  std::vector<std::string> names;
  for (const std::string& launched : names_) {
    std::string name = core::short_kernel_name(launched);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  warn(fmt::format("error: --timed {} names no launch of the program, which had {}\n  hint: {}",
                   options_.timed, launch_count_, core::name_hint(options_.timed, candidates)));
}

void Device::report() const {
  if (launch_count_ == 0) return;
  std::string text = fmt::format("gpusim: {}: {} launch{}", machine().gpu.name, launch_count_,
                                 launch_count_ == 1 ? "" : "es");
  if (options_.functional)
    text += ", for values only";
  else if (timed_count_ != launch_count_)
    text += fmt::format(", {} of them timed", timed_count_);
  if (live_ != nullptr) {
    text += fmt::format("; {} of simulated time", duration(live_->now_s()));
    if (!options_.out.empty() && live_->result().recorded)
      text += fmt::format("; recorded in {}", options_.out);
  }
  text += "\n";
  if (live_ != nullptr) {
    std::vector<TimedKernel> rows = timed_;
    std::ranges::stable_sort(rows, std::ranges::greater(), &TimedKernel::seconds);
    constexpr size_t kShown = 10;
    for (size_t i = 0; i < std::min(rows.size(), kShown); ++i)
      text +=
          fmt::format("gpusim:   {:>12} in {:>5} launch{}  {}\n", duration(rows[i].seconds), rows[i].launches,
                      rows[i].launches == 1 ? ",  " : "es,", core::short_kernel_name(rows[i].name));
    if (rows.size() > kShown) text += fmt::format("gpusim:   and {} other kernels\n", rows.size() - kShown);
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace gpusim::runtime
