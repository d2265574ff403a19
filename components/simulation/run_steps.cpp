#include "components/simulation/run_steps.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "components/simulation/run_checker.h"
#include "simcore/config/peaks.h"

namespace gpusim::comp {

namespace {

void fill_pattern(std::span<std::byte> to, int64_t value, uint32_t width) {
  if (width == 1) {
    std::ranges::fill(to, static_cast<std::byte>(value & 0xff));
    return;
  }
  const auto pattern = static_cast<uint32_t>(value);
  for (size_t at = 0; at + width <= to.size(); at += width) std::memcpy(to.data() + at, &pattern, width);
}

}  // namespace

std::string reason_of(const core::InputError& error) {
  std::string text = error.what();
  constexpr std::string_view kMark = ": error: ";
  if (const size_t at = text.find(kMark); at != std::string::npos) text.replace(at, kMark.size(), ": ");
  return text;
}

RunSteps::RunSteps(const SimulationOptions& options, DeviceContents& contents, Checker* checker)
    : options_(options),
      contents_(contents),
      checker_(checker),
      walker_(options.launch, {[this](uint32_t buffer) { return contents_.bytes_of(buffer); },
                               [this](uint32_t a, uint32_t b) { contents_.swap_names(a, b); },
                               [this](uint32_t buffer, uint64_t offset, uint64_t bytes) {
                                 note_written(checker_, contents_.buffer_address(buffer) + offset, bytes);
                               }}) {}

RunSteps::Transfer RunSteps::transfer() {
  return walker_.kind() == core::StepWalker::Kind::kMemset ? memset() : copy();
}

double RunSteps::link_seconds(uint64_t bytes) const {
  const auto& host = options_.machine.host;
  const double rate = static_cast<double>(std::max<int64_t>(host.link_bytes_per_s, 1));
  return host.link_latency_ns * 1e-9 + static_cast<double>(bytes) / rate;
}

double RunSteps::memory_seconds(uint64_t bytes) const {
  return static_cast<double>(bytes) / std::max(core::dram_peak(options_.machine), 1.0);
}

RunSteps::Transfer RunSteps::copy() {
  const core::CopySpec& spec = options_.launch.copies[walker_.index()];
  const core::BufferSpec& target = options_.launch.buffers[spec.buffer];
  const core::StepWalker::Bytes place = walker_.copy();
  Transfer t;
  t.result.buffer = target.name;
  t.result.is_variable = target.variable.has_value();
  t.result.stream = spec.stream;
  t.result.to_device = spec.to_device;
  t.result.bytes = place.bytes;
  t.result.form = spec.from ? CopyResult::Form::kInside : CopyResult::Form::kTransfer;
  // What moves within device memory is read and written.
  t.result.time_s = spec.from ? memory_seconds(2 * place.bytes) : link_seconds(place.bytes);
  if (!spec.moves_data() || place.bytes == 0) return t;
  const std::span<std::byte> to = contents_.bytes_of(spec.buffer).subspan(place.offset, place.bytes);
  const uint64_t address = contents_.buffer_address(spec.buffer) + place.offset;
  if (!spec.from) {
    t.move = [this, &spec, to, address] {
      contents_.fill(*spec.source, to);
      note_written(checker_, address, to.size());
    };
    return t;
  }
  const std::byte* const from = contents_.bytes_of(*spec.from).data() + place.from_offset;
  const uint64_t from_address = contents_.buffer_address(*spec.from) + place.from_offset;
  t.move = [this, to, address, from, from_address] {
    std::memmove(to.data(), from, to.size());
    note_copied(checker_, from_address, address, to.size());
  };
  return t;
}

RunSteps::Transfer RunSteps::memset() {
  const core::MemsetSpec& spec = options_.launch.memsets[walker_.index()];
  const core::BufferSpec& target = options_.launch.buffers[spec.buffer];
  const core::StepWalker::Bytes place = walker_.memset();
  Transfer t;
  t.result.buffer = target.name;
  t.result.is_variable = target.variable.has_value();
  t.result.stream = spec.stream;
  t.result.bytes = place.bytes;
  t.result.form = CopyResult::Form::kFill;
  t.result.time_s = memory_seconds(place.bytes);
  if (place.bytes == 0) return t;
  const std::span<std::byte> to = contents_.bytes_of(spec.buffer).subspan(place.offset, place.bytes);
  const uint64_t address = contents_.buffer_address(spec.buffer) + place.offset;
  t.move = [this, &spec, to, address, value = place.value] {
    fill_pattern(to, value, spec.width);
    note_written(checker_, address, to.size());
  };
  return t;
}

}  // namespace gpusim::comp
