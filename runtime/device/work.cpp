// Work: what is submitted, in which order it is carried out, and what copies and fills do.
#include "runtime/device/work.h"

#include <algorithm>
#include <cstring>

namespace gpusim::runtime {

namespace {

void copy_rows(const Copy& c) {
  const std::byte* const source = c.staged.empty() ? c.from : c.staged.data();
  const bool packed = !c.staged.empty();
  const uint64_t from_pitch = packed ? c.width : c.from_pitch;
  const uint64_t from_slice = packed ? c.width * c.height : c.from_slice;
  if (c.depth == 1 && (c.height == 1 || (c.to_pitch == c.width && from_pitch == c.width))) {
    std::memmove(c.to, source, c.width * c.height);
    return;
  }
  for (uint64_t z = 0; z < c.depth; ++z)
    for (uint64_t y = 0; y < c.height; ++y)
      std::memmove(c.to + z * c.to_slice + y * c.to_pitch, source + z * from_slice + y * from_pitch, c.width);
}

void fill_rows(const Fill& f) {
  for (uint64_t z = 0; z < f.depth; ++z) {
    for (uint64_t y = 0; y < f.height; ++y) {
      std::byte* const row = f.to + z * f.slice + y * f.pitch;
      if (f.value_bytes == 1) {
        std::memset(row, static_cast<int>(f.value & 0xff), f.width);
        continue;
      }
      for (uint64_t x = 0; x + f.value_bytes <= f.width; x += f.value_bytes)
        std::memcpy(row + x, &f.value, f.value_bytes);
    }
  }
}

/// Copies the source of a pageable copy, which the program may change at once.
void stage(Copy& c) {
  c.staged.resize(c.bytes());
  for (uint64_t z = 0; z < c.depth; ++z)
    for (uint64_t y = 0; y < c.height; ++y)
      std::memcpy(c.staged.data() + (z * c.height + y) * c.width,
                  c.from + z * c.from_slice + y * c.from_pitch, c.width);
}

}  // namespace

void Device::copy(Copy c, Stream& stream, bool wait) {
  check();
  if (c.bytes() == 0) {
    if (wait) synchronize(stream);
    return;
  }
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kCopy;
  work->copy = std::move(c);
  // Memory that is not pinned is read before the call returns.
  const bool later = !options_.functional || !open_.empty();
  if (!wait && later && work->copy.staged.empty() && work->copy.direction == Copy::Direction::kHostToDevice &&
      pointer_kind(work->copy.from).memory == PointerKind::Memory::kUnregistered)
    stage(work->copy);
  submit(std::move(work), stream);
  if (wait) synchronize(stream);
}

bool Device::always_waits(const Copy& c) const {
  if ((options_.functional && open_.empty()) || c.bytes() == 0) return false;
  if (std::ranges::any_of(aside_, [](const auto& work) { return work->waits_for_memory; })) return false;
  return c.direction == Copy::Direction::kHostToHost ||
         (c.direction == Copy::Direction::kDeviceToHost &&
          pointer_kind(c.to).memory == PointerKind::Memory::kUnregistered);
}

void Device::fill(const Fill& f, Stream& stream, bool wait) {
  check();
  if (f.bytes() != 0) {
    auto work = std::make_unique<Work>();
    work->kind = Work::Kind::kFill;
    work->fill = f;
    submit(std::move(work), stream);
  }
  if (wait) synchronize(stream);
}

void Device::host_function(std::function<void()> function, Stream& stream,
                           std::function<void(Code)> after_failure) {
  if (fault_ && after_failure && !fault_is_known_) return call_after_failure({std::move(after_failure)});
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kHostFunction;
  work->function = std::move(function);
  work->after_failure = std::move(after_failure);
  submit(std::move(work), stream);
}

void Device::action(std::function<void()> function, Stream& stream) {
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kAction;
  work->function = std::move(function);
  submit(std::move(work), stream);
}

void Device::wait_until(std::function<bool()> ready, Stream& stream) {
  check();
  if (!options_.functional || export_ != nullptr) {
    flush();
    if (ready()) return;
    throw Failure(Code::kNotSupported,
                  "in a timed run and in one with --export a stream cannot wait for a value that is written "
                  "after it was told to wait");
  }
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kWait;
  work->ready = std::move(ready);
  submit(std::move(work), stream);
}

void Device::record(Event& event, Stream& stream) {
  check();
  auto work = std::make_unique<Work>();
  work->kind = Work::Kind::kEvent;
  work->event = &event;
  for (const auto* list : {&pending_, &carried_out_})
    for (const auto& earlier : *list)
      if (earlier->event == &event) earlier->event = nullptr;
  event.recorded = true;
  event.reached = false;
  event.work = submit(std::move(work), stream);
  if (event.interprocess) synchronize(event);
}

void Device::wait(Stream& stream, const Event& event) {
  check();
  if (!event.recorded) return;
  if (event.reached)
    note_done(stream.number, event.done_s);
  else
    stream.waits.push_back(event.work);
}

void Device::record_all(Event& event) {
  if (joined_ == nullptr || !is_stream(joined_)) joined_ = &add_stream(false, 0, 0);
  const auto waits_for = [&](const Stream& s) {
    if (s.last_work != 0) joined_->waits.push_back(s.last_work);
  };
  waits_for(legacy_);
  for (const auto& [key, stream] : streams_) waits_for(*stream);
  record(event, *joined_);
}

void Device::wait_all(const Event& event) {
  wait(legacy_, event);
  for (const auto& [key, stream] : streams_) wait(*stream, event);
  std::erase_if(waits_of_new_streams_, [this](uint64_t number) {
    return options_.functional ? !open_.contains(number)
                               : pending_.empty() || number < pending_.front()->number;
  });
  if (event.recorded && !event.reached) waits_of_new_streams_.push_back(event.work);
}

uint64_t Device::take_number(Work& work, Stream& stream) {
  work.number = ++work_count_;
  work.stream = stream.number;
  work.after = std::exchange(stream.waits, {});
  if (&stream == &legacy_) {
    for (const auto& [key, other] : streams_)
      if (other->blocking && other->last_work != 0) work.after.push_back(other->last_work);
    legacy_barrier_ = work.number;
  } else if (stream.blocking && legacy_barrier_ != 0) {
    work.after.push_back(legacy_barrier_);
  }
  if (options_.functional) work.after.push_back(stream.last_work);
  stream.last_work = work.number;
  return work.number;
}

uint64_t Device::submit(std::unique_ptr<Work> work, Stream& stream) {
  const uint64_t number = take_number(*work, stream);
  const bool is_next = options_.functional && open_.empty() && !has_to_wait(*work);
  if (is_next && (work->kind != Work::Kind::kHostFunction || call_back(*work))) {
    carry_out(*work);
    note_carried_out(*work, done_s(stream));
    return number;
  }
  if (options_.functional) open_.insert(number);
  pending_.push_back(std::move(work));
  if (options_.functional) {
    begin_beside();
    go_on();
    return number;
  }
  constexpr size_t kMostPending = 4096;
  if (pending_.size() > kMostPending) flush();
  return number;
}

void Device::move_bytes(Work& work) {
  if (work.kind == Work::Kind::kCopy) copy_rows(work.copy);
  if (work.kind == Work::Kind::kFill) fill_rows(work.fill);
  mark_written(work);
}

/// Of a run for values.
void Device::carry_out(Work& work) {
  untimed_s_ += kUntimedSeconds;
  move_bytes(work);
  if (work.kind == Work::Kind::kAction) work.function();
  if (work.kind == Work::Kind::kEvent && work.event != nullptr) {
    work.event->reached = true;
    work.event->seconds = untimed_s_;
    work.event->done_s = 0;
  }
}

void Device::synchronize() {
  check();
  flush();
  waited(std::max(now_s(), done_s_.empty() ? 0 : *std::ranges::max_element(done_s_)));
  services_.flush();
}

void Device::synchronize(const Stream& stream) {
  check();
  if (open_.empty())
    flush();  // all that comes before it, and what runs beside it
  else
    go_on_until([&] { return !is_waiting(stream); });
  waited(done_s(stream));
  services_.flush();
}

void Device::synchronize(const Event& event) {
  check();
  if (!open_.empty())
    go_on_until([&] { return !event.recorded || event.reached; });
  else if (!event.reached)
    flush();
  waited(event.done_s);
  services_.flush();
}

double Device::now_s() const { return untimed_s_ + (live_ == nullptr ? 0 : live_->now_s()); }

}  // namespace gpusim::runtime
