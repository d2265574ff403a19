// The recorder's threads: the simulation thread fills chunk buffers and queues jobs; helpers compress chunks;
// the writer thread runs the jobs in order through Hdf5Writer and commits at intervals. At most
// kMaxOutstanding chunks are in flight: then the simulation thread waits, so memory stays bounded.
#include "simcore/record/recorder.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "simcore/record/hdf5_writer.h"

namespace gpusim::core {
namespace {

constexpr size_t kMaxOutstanding = 16;
constexpr int kMaxHelpers = 64;
/// After a kernel's end a commit comes at once, unless the last one is less than so many times its own length
/// ago: of many short kernels, at most this part of the time goes into commits.
constexpr int kCommitSpacing = 20;
using Buffer = std::unique_ptr<std::byte[]>;

/// A full chunk on its way to the file.
struct ChunkJob {
  size_t table = 0;
  uint32_t record_bytes = 0;
  Buffer records;
  PackedChunk packed;
  bool is_packed = false;  ///< guarded by Pipeline::mutex_
};

/// Queue, threads and error state.
class Pipeline {
 public:
  Pipeline(int helpers, double interval_s) : interval_(interval_s) {
    for (int i = 0; i < std::min(helpers, kMaxHelpers) && helpers > 1; ++i)
      helpers_.emplace_back([this] { help(); });
  }
  ~Pipeline() { stop(); }

  /// Creates the file on the writer thread; throws its RecordError.
  void start(const std::string& path, const RunAttributes& attributes) {
    std::promise<void> created;
    writer_ = std::thread([&, this] {
      std::unique_ptr<Hdf5Writer> writer;
      try {
        writer = std::make_unique<Hdf5Writer>(path, attributes);
      } catch (...) {
        created.set_exception(std::current_exception());
        return;
      }
      created.set_value();
      run(*writer);
    });
    created.get_future().get();
  }

  /// `commit`: what has been written up to here is to survive the end of the process.
  void push(std::function<void(Hdf5Writer&)> job, bool commit = false) {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back({std::move(job), nullptr, commit});
    work_.notify_all();
  }

  /// Queues a full chunk and returns an empty buffer; waits while too many chunks are in flight.
  Buffer exchange(size_t table, uint32_t record_bytes, Buffer full) {
    auto chunk = std::make_shared<ChunkJob>();
    chunk->table = table;
    chunk->record_bytes = record_bytes;
    chunk->records = std::move(full);
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return outstanding_ < kMaxOutstanding; });
    ++outstanding_;
    jobs_.push_back({nullptr, chunk, false});
    if (!helpers_.empty()) to_pack_.push_back(chunk);
    work_.notify_all();
    return take_buffer();
  }

  Buffer buffer() {
    const std::scoped_lock lock(mutex_);
    return take_buffer();
  }
  void give_back(Buffer buffer) {
    const std::scoped_lock lock(mutex_);
    spare_.push_back(std::move(buffer));
  }

  void check() const {
    if (failed_.load(std::memory_order_acquire)) throw RecordError(error_);
  }

  /// Runs what is queued and ends the threads.
  void stop() {
    {
      const std::scoped_lock lock(mutex_);
      stopping_ = true;
      work_.notify_all();
      packed_.notify_all();
    }
    if (writer_.joinable()) writer_.join();
    {
      const std::scoped_lock lock(mutex_);
      writer_ended_ = true;
      work_.notify_all();
    }
    for (std::thread& helper : helpers_) {
      if (helper.joinable()) helper.join();
    }
  }

 private:
  struct Job {
    std::function<void(Hdf5Writer&)> run;
    std::shared_ptr<ChunkJob> chunk;
    bool commit = false;
  };

  Buffer take_buffer() {
    if (spare_.empty()) return Buffer(new std::byte[kChunkBytes]);  // not touched: costs nothing until used
    Buffer buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return !to_pack_.empty() || writer_ended_; });
      if (to_pack_.empty()) return;
      const std::shared_ptr<ChunkJob> chunk = std::move(to_pack_.front());
      to_pack_.pop_front();
      lock.unlock();
      pack(*chunk);
      lock.lock();
      chunk->is_packed = true;
      packed_.notify_all();
    }
  }

  static void pack(ChunkJob& chunk) {
    chunk.packed = pack_chunk(chunk.records.get(), chunk_rows(chunk.record_bytes), chunk.record_bytes);
  }

  void run(Hdf5Writer& writer) {
    using Clock = std::chrono::steady_clock;
    const auto interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval_));
    Clock::time_point committed = Clock::now(), due = committed + interval;
    Clock::duration cost{};  ///< of the last commit
    bool dirty = false;
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto has_work = [this] { return !jobs_.empty() || stopping_; };
      if (dirty) {
        work_.wait_until(lock, due, has_work);
      } else {
        work_.wait(lock, has_work);
      }
      if (jobs_.empty() && stopping_) return;
      Job job;
      if (!jobs_.empty()) {
        job = std::move(jobs_.front());
        jobs_.pop_front();
        if (job.chunk != nullptr && !helpers_.empty())
          packed_.wait(lock, [&] { return job.chunk->is_packed; });
      }
      lock.unlock();
      attempt([&] { do_job(writer, job); });
      dirty = dirty || job.run != nullptr || job.chunk != nullptr;
      if (job.commit) due = std::min(due, committed + kCommitSpacing * cost);
      if (const Clock::time_point now = Clock::now(); dirty && !failed_ && !closed_ && now >= due) {
        attempt([&] { writer.commit(); });
        dirty = false;
        committed = Clock::now();
        cost = committed - now;
        due = committed + interval;
      }
      lock.lock();
      if (job.chunk != nullptr) {
        spare_.push_back(std::move(job.chunk->records));
        --outstanding_;
        room_.notify_all();
      }
    }
  }

  void do_job(Hdf5Writer& writer, const Job& job) {
    if (failed_) return;
    if (job.chunk == nullptr) {
      if (job.run) job.run(writer);
      return;
    }
    if (helpers_.empty()) pack(*job.chunk);
    writer.append_chunk(job.chunk->table, job.chunk->packed);
  }

  template <typename Action>
  void attempt(Action action) {
    try {
      action();
    } catch (const std::exception& problem) {
      if (failed_) return;
      error_ = problem.what();
      failed_.store(true, std::memory_order_release);
    }
  }

 public:
  std::atomic<bool> closed_{false};  ///< set by the closing job: no commit after it

 private:
  const double interval_;
  std::mutex mutex_;
  std::condition_variable work_, packed_, room_;
  std::deque<Job> jobs_;
  std::deque<std::shared_ptr<ChunkJob>> to_pack_;
  std::vector<Buffer> spare_;
  size_t outstanding_ = 0;
  bool stopping_ = false, writer_ended_ = false;
  std::atomic<bool> failed_{false};
  std::string error_;
  std::thread writer_;
  std::vector<std::thread> helpers_;
};

/// Hands the rows of a table to the writer, chunk by chunk.
class ChunkedTable final : public RowSink {
 public:
  ChunkedTable(Pipeline& pipeline, size_t id, const TableSchema& schema, std::unique_ptr<RowBuffer> rows)
      : pipeline_(pipeline), id_(id), record_bytes_(schema.record_bytes), rows_(std::move(rows)) {
    use(pipeline.buffer());
  }
  /// Hands the rows that do not fill a chunk to the writer.
  void finish() {
    const auto bytes = static_cast<size_t>(rows_->cursor() - buffer_.get());
    const auto rows = std::make_shared<std::vector<std::byte>>(buffer_.get(), buffer_.get() + bytes);
    pipeline_.push([id = id_, rows](Hdf5Writer& writer) { writer.finish_table(id, *rows); });
    pipeline_.give_back(std::move(buffer_));
  }

 private:
  void take(RowBuffer&) override { use(pipeline_.exchange(id_, record_bytes_, std::move(buffer_))); }
  void use(Buffer buffer) {
    buffer_ = std::move(buffer);
    rows_->use(*this, buffer_.get(), chunk_rows(record_bytes_) * record_bytes_);
  }

  Pipeline& pipeline_;
  size_t id_;
  uint32_t record_bytes_;
  std::unique_ptr<RowBuffer> rows_;
  Buffer buffer_;
};

class Hdf5Recorder final : public Recorder {
 public:
  Hdf5Recorder(const std::string& path, const RunAttributes& attributes, EventLevel level, int threads,
               double interval_s)
      : level_(level), pipeline_(threads, interval_s) {
    pipeline_.start(path, attributes);
  }
  ~Hdf5Recorder() override {
    if (closed_) return;
    try {
      close("partial", "the program ended without closing the file");
    } catch (const RecordError&) {  // a destructor cannot report it; what was committed stays readable
    }
  }

  [[nodiscard]] EventLevel level() const override { return level_; }

  uint64_t begin_kernel(std::span<const KernelAttribute> attributes) override {
    check();
    current_ = kernels_++;
    open_[current_];
    pipeline_.push([kernel = current_, copy = copied(attributes)](Hdf5Writer& writer) {
      writer.begin_kernel(kernel, copy);
    });
    return current_;
  }

  void choose_kernel(uint64_t n) override {
    if (!open_.contains(n)) throw RecordError(fmt::format("recorder: kernel {} is not open", n));
    current_ = n;
  }

  void open_table(const TableSchema& schema, std::unique_ptr<RowBuffer> rows) override {
    need_kernel();
    if (schema.record_bytes == 0 || schema.record_bytes > kChunkBytes) {
      throw RecordError(
          fmt::format("recorder: records of '{}' have {} bytes", schema.path, schema.record_bytes));
    }
    const size_t id = next_table_++;
    pipeline_.push(
        [kernel = current_, id, schema](Hdf5Writer& writer) { writer.declare_table(kernel, id, schema); });
    open_[current_].push_back(std::make_unique<ChunkedTable>(pipeline_, id, schema, std::move(rows)));
  }

  void write_table(const TableSchema& schema, std::span<const std::byte> records, uint64_t rows,
                   std::span<const std::vector<std::string>> texts) override {
    need_kernel();
    write_whole(current_, schema, records, rows, texts);
  }

  void write_run_table(const TableSchema& schema, std::span<const std::byte> records, uint64_t rows,
                       std::span<const std::vector<std::string>> texts) override {
    check();
    write_whole(Hdf5Writer::kRun, schema, records, rows, texts);
  }

  void write_counters_below(std::span<const Counter> counters, std::string_view folder) override {
    // Not static: a program that was run may end, and its statics with it, before the file is closed.
    TableSchema schema{"counters",
                       "event counts and derived figures of the kernel",
                       sizeof(double),
                       {{"name", ColumnType::kString, 0, "", "name; nvprof's where one exists"},
                        {"value", ColumnType::kF64, 0, "see column unit", "value"},
                        {"unit", ColumnType::kString, 0, "", "unit of the value"},
                        {"description", ColumnType::kString, 0, "", "what is counted"}}};
    schema.path.insert(0, folder);
    std::vector<double> values;
    std::vector<std::vector<std::string>> texts(3);
    for (const Counter& counter : counters) {
      values.push_back(counter.value);
      texts[0].emplace_back(counter.name);
      texts[1].emplace_back(counter.unit);
      texts[2].emplace_back(counter.description);
    }
    write_table(schema, std::as_bytes(std::span(values)), values.size(), texts);
  }

  void end_kernel(std::span<const KernelAttribute> attributes) override {
    need_kernel();
    for (auto& table : open_[current_]) table->finish();
    open_.erase(current_);
    pipeline_.push([kernel = current_,
                    copy = copied(attributes)](Hdf5Writer& writer) { writer.end_kernel(kernel, copy); },
                   true);
    current_ = kNoKernel;
  }

  void check() override {
    if (!tells_at_end_) pipeline_.check();
  }
  void tell_at_end() override { tells_at_end_ = true; }

  bool close(std::string_view status, std::string_view reason) override {
    if (closed_) return left_;
    closed_ = true;
    for (auto& [kernel, tables] : open_)
      for (auto& table : tables) table->finish();
    open_.clear();
    pipeline_.push(
        [this, status_copy = std::string(status), reason_copy = std::string(reason)](Hdf5Writer& writer) {
          pipeline_.closed_ = true;
          left_ = writer.close(status_copy, reason_copy);
        });
    pipeline_.stop();
    pipeline_.check();
    return left_;
  }

 private:
  static std::vector<KernelAttribute> copied(std::span<const KernelAttribute> attributes) {
    return {attributes.begin(), attributes.end()};
  }
  void need_kernel() {
    check();
    if (current_ == kNoKernel) throw RecordError("recorder: no kernel has begun");
  }
  void write_whole(uint64_t kernel, const TableSchema& schema, std::span<const std::byte> records,
                   uint64_t rows, std::span<const std::vector<std::string>> texts) {
    const auto strings =
        std::count_if(schema.columns.begin(), schema.columns.end(),
                      [](const Column& column) { return column.type == ColumnType::kString; });
    bool fits = records.size() == rows * schema.record_bytes && texts.size() == static_cast<size_t>(strings);
    for (const auto& column : texts) fits = fits && column.size() == rows;
    if (!fits)
      throw RecordError(fmt::format("recorder: the data of '{}' does not have {} rows", schema.path, rows));
    pipeline_.push([kernel, schema, rows, data = std::vector<std::byte>(records.begin(), records.end()),
                    strings_copy = std::vector<std::vector<std::string>>(texts.begin(), texts.end())](
                       Hdf5Writer& writer) { writer.write_table(kernel, schema, data, rows, strings_copy); });
  }

  static constexpr uint64_t kNoKernel = ~0ull;
  EventLevel level_;
  bool tells_at_end_ = false;
  bool closed_ = false;
  bool left_ = true;                            ///< set by the writer's thread, read after it has ended
  uint64_t kernels_ = 0, current_ = kNoKernel;  ///< begun so far; the one that calls are about
  size_t next_table_ = 0;
  Pipeline pipeline_;
  std::map<uint64_t, std::vector<std::unique_ptr<ChunkedTable>>> open_;  ///< by kernel
};

}  // namespace

std::unique_ptr<Recorder> Recorder::create(const std::string& path, const RunAttributes& attributes,
                                           EventLevel level, int compression_threads,
                                           double flush_interval_s) {
  return std::make_unique<Hdf5Recorder>(path, attributes, level, compression_threads, flush_interval_s);
}

}  // namespace gpusim::core
