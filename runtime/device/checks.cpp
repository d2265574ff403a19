// What looks on while a program runs: the checks of its kernels, and the export.
#include <fmt/format.h>

#include "components/checker/check_report.h"
#include "runtime/device/children.h"
#include "runtime/device/export.h"
#include "runtime/device/work.h"
#include "simcore/text/kernel_name.h"

namespace gpusim::runtime {

template <class Action>
void Device::exported(Action action) {
  if (export_ == nullptr) return;
  try {
    action(*export_);
  } catch (const Failure& failure) {
    warn(fmt::format("{}; nothing is exported", failure.what()));
    export_.reset();
  }
}

void Device::watch_memory(uint64_t base, comp::GlobalObject::Kind kind, bool host_writes,
                          std::string_view type) {
  const core::Allocation* a = checker_ == nullptr && export_ == nullptr ? nullptr : memory_.find(base);
  if (a == nullptr) return;  // nobody wants to know, or nothing is in it
  if (checker_ != nullptr) {
    // Variables without an initial value hold zeros.
    const bool initialised =
        host_writes || kind != comp::GlobalObject::Kind::kBuffer || !simulation_.checks.init;
    checker_->globals().add({a->name, kind, a->base, a->end(), initialised, {}});
  }
  exported([&](Export& e) { e.allocated(*a, kind, host_writes, type); });
}

void Device::forget_memory(uint64_t base) {
  // Who reads a texture of it from now on has none.
  if (const core::Allocation* a = memory_.find(base); a != nullptr)
    for (const auto& texture : textures_)
      if (const auto at = texture == nullptr ? 0 : reinterpret_cast<uint64_t>(texture->data);
          at >= a->base && at < a->end())
        texture->data = texture->surface = nullptr;
  if (checker_ != nullptr) checker_->globals().remove(base);
  exported([base](Export& e) { e.released(base); });
}

void Device::mark_written(const Work& work) {
  if (work.kind == Work::Kind::kCopy) exported([&work](Export& e) { e.copied(work.copy); });
  if (work.kind == Work::Kind::kFill) exported([&work](Export& e) { e.filled(work.fill); });
  if (checker_ == nullptr || !simulation_.checks.init) return;
  comp::GlobalObjects& objects = checker_->globals();
  const auto address = [](const std::byte* place) { return reinterpret_cast<uint64_t>(place); };
  if (const Copy& c = work.copy; work.kind == Work::Kind::kCopy)
    for (uint64_t z = 0; z < c.depth; ++z)
      for (uint64_t y = 0; y < c.height; ++y) {
        const uint64_t to = address(c.to + z * c.to_slice + y * c.to_pitch);
        // What was staged is the host's, and so is what lies in no object.
        if (c.staged.empty())
          objects.mark_copied(address(c.from + z * c.from_slice + y * c.from_pitch), to, c.width);
        else
          objects.mark_written(to, c.width);
      }
  if (const Fill& f = work.fill; work.kind == Work::Kind::kFill)
    for (uint64_t z = 0; z < f.depth; ++z)
      for (uint64_t y = 0; y < f.height; ++y)
        objects.mark_written(address(f.to + z * f.slice + y * f.pitch), f.width);
}

void Device::tell_stray(const core::Allocation& a) {
  if (!strayed_.insert(a.base).second) return;
  warn(fmt::format(
      "warning: kernel '{}' uses memory {} '{}' ({} bytes), which a GPU does not notice within a {}page\n"
      "  hint: gpusim run --check memory says where",
      last_name_ == nullptr ? "" : core::short_kernel_name(*last_name_),
      a.of_host ? "outside of" : "behind the end of", a.name, a.bytes, a.of_host ? "" : "large "));
}

void Device::retire(Kernel& kernel) {
  if (checker_ != nullptr && kernel.lowered_ != nullptr) retired_.push_back(std::move(kernel.lowered_));
}

void Device::run_exported(Kernel& kernel, uint64_t number, const comp::KernelLaunch& run,
                          const std::function<void()>& launch) {
  const bool chosen = is_chosen(kernel, number);
  if (!chosen) exported([](Export& e) { e.skipped(); });
  const bool launches = Children::may_launch(*run.image);
  if ((run.grid_workspace != 0 || launches) && chosen) {
    warn(fmt::format("--export: a {} has no form in a launch file; nothing is exported",
                     launches ? "kernel that launches others" : "cooperative launch"));
    export_.reset();
  }
  if (chosen)
    exported([&](Export& e) {
      e.before_launch(kernel.reusable_spec_, *run.image, run.params, kernel.module().texts_);
    });
  launch();
  if (chosen) exported([](Export& e) { e.after_launch(); });
}

void Device::end_export() {
  exported([this](Export& e) {
    const uint64_t count = fault_ ? 0
                                  : e.finish(fmt::format("Written by gpusim run --export: {} on {}",
                                                         options_.command_line, machine().gpu.name));
    in_vain_ = in_vain_ || count == 0;
    if (count == 0)
      warn(fault_ ? "--export: a kernel has failed; nothing is exported"
                  : "--export: no launch was chosen; nothing is exported");
    else if (!options_.quiet)
      warn(fmt::format("exported {} launch{} to {}", count, count == 1 ? "" : "es", options_.export_folder));
  });
  // One that was given up has said why.
  in_vain_ = in_vain_ || (export_ == nullptr && !options_.export_folder.empty());
  if (in_vain_) export_.reset();  // with the folder
}

void Device::tell_findings() {
  if (checker_ == nullptr) return;
  for (std::string& text : comp::finding_texts(checker_->log().news())) {
    text.pop_back();  // the end of its last line
    warn(text);
  }
}

}  // namespace gpusim::runtime
