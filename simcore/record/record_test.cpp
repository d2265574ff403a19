#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "simcore/record/earlier_run.h"
#include "simcore/record/event_schema.h"
#include "simcore/record/file_claim.h"
#include "simcore/record/hdf5_writer.h"
#include "simcore/record/ordered_file.h"
#include "simcore/record/read.h"
#include "simcore/record/recorder.h"
#include "simcore/tests/kill_pattern.h"
#include "simcore/text/text_file.h"

namespace gpusim::core {
namespace {

using testing::HasSubstr;

/// A file of this process alone, for other builds may run the same test; gone at its end.
std::string temp(const std::string& name) {
  static const struct Folder {
    std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("gpusim_record_" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  return folder.path / name;
}

void record(const std::string& path, uint64_t kernels, uint64_t rows, int threads, double interval) {
  const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, threads, interval);
  write_pattern(*recorder, kernels, rows, [] {});
  recorder->close("complete", "");
}

TEST(Recorder, OneWriterForEachFile) {
  const std::string path = temp("claimed.h5");
  auto first = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1, 2);
  const auto second = [&path] {
    return Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1, 2);
  };
  EXPECT_THAT([&] { second(); },
              testing::ThrowsMessage<RecordError>(HasSubstr("another run is writing this file")));
  write_pattern(*first, 1, 100, [] {});
  { const RecordedFile reader(path); }  // whoever reads does not need the claim
  first->close("complete", "");
  first.reset();
  EXPECT_NO_THROW(second()->close("complete", ""));  // ended runs hold nothing
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    files += entry.path().filename().string().starts_with("claimed.h5");
  EXPECT_EQ(files, 1u) << "temporary files are left";
}

TEST(Recorder, OneWriterOfManyThatStartAtOnce) {
  for (const bool there : {false, true}) {
    const std::string path = temp(there ? "raced_old.h5" : "raced_new.h5");
    if (there) record(path, 1, 10, 1, 2);
    std::vector<std::unique_ptr<FileClaim>> claims;
    claims.reserve(8);
    for (int i = 0; i < 8; ++i) claims.push_back(std::make_unique<FileClaim>(path));
    std::atomic<int> got = 0, refused = 0;
    std::vector<std::thread> runs;
    runs.reserve(claims.size());
    for (const auto& claim : claims)
      runs.emplace_back([&] {
        try {
          claim->publish();
          ++got;
        } catch (const RecordError&) {
          ++refused;
        }
      });
    for (std::thread& run : runs) run.join();
    EXPECT_EQ(got, 1);
    EXPECT_EQ(refused, 7);
  }
}

TEST(Recorder, ReplacesAWholeFileOnceTheNewOneIsWhole) {
  const std::string path = temp("kept.h5");
  record(path, 1, 10, 1, 2);
  const std::string before = read_text_file(path);
  const auto start = [&path] {
    auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1, 0);
    write_pattern(*recorder, 2, 100, [] {});
    return recorder;
  };
  for (const bool told : {true, false}) {  // or destroyed, as after an exception
    auto recorder = start();
    EXPECT_THAT([&] { start(); },
                testing::ThrowsMessage<RecordError>(HasSubstr("another run is writing this file")));
    if (told) {
      EXPECT_FALSE(recorder->close("partial", "interrupted"));
    }
    recorder.reset();
    EXPECT_TRUE(read_text_file(path) == before);
  }
  auto recorder = start();
  EXPECT_TRUE(read_text_file(path) == before);
  EXPECT_TRUE(recorder->close("complete", ""));
  const std::string after = read_text_file(path);
  EXPECT_FALSE(after == before);
  recorder = start();
  std::filesystem::remove(path);  // what was kept is gone: nothing is left to lose
  EXPECT_TRUE(recorder->close("complete", ""));
  EXPECT_TRUE(read_text_file(path) == after);
  recorder.reset();
  std::filesystem::remove(path);
  recorder = start();
  EXPECT_TRUE(recorder->close("partial", "interrupted"));
  recorder = start();  // a partial one goes at once: until it ends, a kill leaves what this one has recorded
  EXPECT_TRUE(recorder->close("partial", "interrupted"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    files += entry.path().filename().string().starts_with("kept.h5");
  EXPECT_EQ(files, 1u) << "temporary files are left";
}

TEST(Recorder, ReplacesOnlyRunsOfTheSameMachineAndProgram) {
  const std::string path = temp("earlier.h5");
  const RunAttributes same = pattern_attributes();
  EXPECT_FALSE(replaces_same_run(path, same));
  { std::ofstream empty(path); }
  EXPECT_FALSE(replaces_same_run(path, same));
  record(path, 1, 10, 1, 2);
  EXPECT_TRUE(replaces_same_run(path, same));
  RunAttributes other = same;
  other.launch_text += "# other";
  EXPECT_TRUE(replaces_same_run(path, other));
  const auto refused = [&](const std::string& why) {
    EXPECT_THAT([&] { static_cast<void>(replaces_same_run(path, other)); },
                testing::ThrowsMessage<RecordError>(testing::AllOf(HasSubstr(why), HasSubstr("--force"))));
  };
  other.config_text += "# other";
  refused("holds a run of another machine: ");
  other.ptx_text += "// other";
  refused("holds a run of another machine and program: ");
  other.config_text = same.config_text;
  refused("holds a run of another program: ");
  // The PTX of a program is not known before it loads it: its file says which it is, arguments do not.
  const RunAttributes changed = other;
  RunAttributes program = same;
  program.command_line = "run ./folder/one 5";
  std::filesystem::remove(path);
  EXPECT_TRUE(Recorder::create(path, program, EventLevel::kSummary, 1)->close("complete", ""));
  other = program;
  other.command_line = "run one 6";
  EXPECT_TRUE(replaces_same_run(path, other));
  other.command_line = "run ./folder/two 5";
  refused("holds a run of another program: run ./folder/one 5");
  other = changed;
  // What a killed run leaves is nobody's as long as no launch was recorded.
  const auto killed = [&](bool launched) {
    std::filesystem::remove(path);
    const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kSummary, 1);
    recorder->begin_kernel({});
    if (launched) {
      recorder->write_counters(std::vector<Counter>{{"cycles", 1, "1", "test"}});
      recorder->end_kernel({});
    }
    recorder->close("partial", "");
  };
  killed(false);
  EXPECT_FALSE(replaces_same_run(path, other));
  killed(true);
  refused("holds a run of another program, which did not end: ");
  { std::ofstream(path) << "my notes"; }
  refused("is no recording of gpusim");
}

TEST(Recorder, WritesWhatItWasGiven) {
  const std::string path = temp("written.h5");
  record(path, 2, 70'000, 1, 2);
  uint64_t records = 0;
  std::string status;
  EXPECT_EQ(check_pattern_file(path, records, status), "");
  EXPECT_EQ(records, 2u * 2 * 70'000);
  EXPECT_EQ(status, "complete");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  const RecordedFile file(path);
  EXPECT_EQ(file.list("/kernels"), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(file.number_attribute("/", "seed"), 42u);
  EXPECT_EQ(file.number_attribute("/", "schema_version"), kSchemaVersion);
  EXPECT_EQ(file.text_attribute("/", "reason"), "");
  EXPECT_EQ(file.text("/inputs/config"), "[gpu]\n");
  EXPECT_EQ(file.text("/inputs/launch"), "");
  EXPECT_EQ(file.number_attribute("/kernels/1", "grid_x"), 64u);
  EXPECT_EQ(file.number_attribute("/kernels/1", "cycles"), 1234u);
  EXPECT_EQ(file.text_attribute("/kernels/1", "note"), "done");
  EXPECT_EQ(file.texts("/kernels/0/counters", "name"), (std::vector<std::string>{"cycles", "ipc"}));
  EXPECT_EQ(file.reals("/kernels/0/counters", "value"), (std::vector<double>{1234.5, 0.5}));
  EXPECT_EQ(file.texts("/kernels/0/counters", "unit")[1], "instructions/cycle");
  EXPECT_EQ(file.text_list_attribute("/kernels/0/events/memory", "column_units")[0], "core cycles");
  EXPECT_EQ(file.numbers("/kernels/0/events/memory", "issue")[69'999], 69'999u * 3);
  const std::string memory = "/kernels/0/events/memory";
  const RecordedTable table = file.table(memory);
  EXPECT_EQ(table.rows, 70'000u);
  EXPECT_EQ(table.numbers.size() + table.texts.size(), file.columns(memory).size());
  for (const auto& [column, values] : table.numbers)
    EXPECT_EQ(values, file.numbers(memory, column)) << column;
}

TEST(Recorder, CellTablesMixNumbersAndTexts) {
  const std::string path = temp("cells.h5");
  const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kSummary, 1);
  recorder->begin_kernel({});
  const TableSchema schema{"issue_slots",
                           "slots by cause",
                           16,
                           {{"cause", ColumnType::kString, 0, "", "cause"},
                            {"slots", ColumnType::kU64, 0, "slots", "count"},
                            {"share", ColumnType::kF64, 8, "1", "share"}}};
  struct Row {
    uint64_t slots;
    double share;
  };
  const Row rows[] = {{10, 0.25}, {30, 0.75}};
  const std::vector<std::string> causes[] = {{"issued", "memory_dram"}};
  recorder->write_table(schema, std::as_bytes(std::span(rows)), 2, causes);
  EXPECT_THROW(recorder->write_table(schema, std::as_bytes(std::span(rows)), 3, causes), RecordError);
  ASSERT_NE(recorder->table<BlockEvent>(), nullptr);  // stays empty
  recorder->end_kernel({});
  recorder->close("failed", "out of bounds");
  const RecordedFile file(path);
  EXPECT_EQ(file.texts("/kernels/0/issue_slots", "cause"),
            (std::vector<std::string>{"issued", "memory_dram"}));
  EXPECT_EQ(file.numbers("/kernels/0/issue_slots", "slots"), (std::vector<uint64_t>{10, 30}));
  EXPECT_EQ(file.reals("/kernels/0/issue_slots", "share"), (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(file.rows("/kernels/0/events/block"), 0u);
  EXPECT_EQ(file.columns("/kernels/0/events/block").size(), 5u);
  EXPECT_EQ(file.text_attribute("/", "status"), "failed");
  EXPECT_EQ(file.text_attribute("/", "reason"), "out of bounds");
  EXPECT_THROW((void)file.numbers("/kernels/0/issue_slots", "slotz"), RecordError);
  EXPECT_EQ(file.table("/kernels/0/events/block").rows, 0u);
  EXPECT_EQ(file.table("/kernels/0/events/block").numbers.size(), 5u);
  EXPECT_THROW((void)file.table("/kernels/0/issue_slots"), RecordError) << "a column of reals";
  EXPECT_THROW((void)file.table("/kernels/0"), RecordError);
}

TEST(Recorder, SeveralKernelsMayBeOpen) {
  const std::string path = temp("open.h5");
  const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kSummary, 1);
  const auto block = [](uint32_t n) {
    return BlockEvent{.start = n, .end = n + 1, .block = n, .sm = 0, .slot = 0};
  };
  EXPECT_EQ(recorder->begin_kernel({}), 0u);
  EventTable<BlockEvent>* const first = recorder->table<BlockEvent>();
  EXPECT_EQ(recorder->begin_kernel({}), 1u);
  EventTable<BlockEvent>* const second = recorder->table<BlockEvent>();
  EXPECT_EQ(recorder->table<MemoryEvent>(), nullptr) << "of a higher level";
  for (uint32_t i = 0; i < 100'000; ++i) {  // chunks of both in turn
    first->append(block(i));
    second->append(block(2 * i));
  }
  recorder->choose_kernel(0);
  recorder->write_counters(std::vector<Counter>{{"of", 7, "1", "test"}});
  recorder->end_kernel(std::vector<KernelAttribute>{{"cycles", "", 5, false}});
  EXPECT_THROW(recorder->end_kernel({}), RecordError) << "no kernel is current";
  EXPECT_THROW(recorder->choose_kernel(0), RecordError) << "it has ended";
  EXPECT_EQ(recorder->begin_kernel({}), 2u);
  recorder->end_kernel({});
  recorder->choose_kernel(1);
  recorder->end_kernel(std::vector<KernelAttribute>{{"cycles", "", 6, false}});
  const TableSchema schema{"timeline", "of the run", 8, {{"start", ColumnType::kU64, 0, "", "start"}}};
  const uint64_t starts[] = {3, 4};
  recorder->write_run_table(schema, std::as_bytes(std::span(starts)), 2, {});
  recorder->close("complete", "");
  const RecordedFile file(path);
  EXPECT_EQ(file.number_attribute("/kernels/0", "cycles"), 5u);
  EXPECT_EQ(file.number_attribute("/kernels/1", "cycles"), 6u);
  EXPECT_EQ(file.reals("/kernels/0/counters", "value"), std::vector<double>{7});
  EXPECT_FALSE(file.exists("/kernels/1/counters"));
  for (const uint64_t kernel : {0u, 1u}) {
    const auto blocks = file.numbers("/kernels/" + std::to_string(kernel) + "/events/block", "block");
    ASSERT_EQ(blocks.size(), 100'000u);
    EXPECT_EQ(blocks[99'999], 99'999u * (kernel + 1));
  }
  EXPECT_EQ(file.numbers("/timeline", "start"), (std::vector<uint64_t>{3, 4}));
}

TEST(Recorder, BytesDoNotDependOnThreadsOrFlushTimes) {
  for (const uint64_t rows : {20, 500, 150'000}) {  // tables without chunks, of one chunk, of many
    record(temp("a.h5"), 6, rows, 1, 1000);
    record(temp("b.h5"), 6, rows, 3, 1000);
    record(temp("c.h5"), 6, rows, 2, 0);  // commits after every job
    const std::string a = read_text_file(temp("a.h5"));
    EXPECT_GT(a.size(), 10'000u);
    EXPECT_TRUE(a == read_text_file(temp("b.h5"))) << rows;
    EXPECT_TRUE(a == read_text_file(temp("c.h5"))) << rows;
  }
}

/// Replays a recording change by change, torn at page boundaries: every state after the first commit must be
/// a valid, partial file with right records only.
TEST(Recorder, EveryStateOfTheFileIsValid) {
  std::vector<FileChange> changes;
  size_t first_commit = 0;
  ordered_file_observe([&](const FileChange& change) { changes.push_back(change); });
  {
    const auto recorder = Recorder::create(temp("log.h5"), pattern_attributes(), EventLevel::kAll, 1, 0);
    first_commit = changes.size();
    write_pattern(*recorder, 2, 45'000, [] {});
    // Enough chunks of one table to split B-tree nodes (30 entries each).
    recorder->begin_kernel(std::vector<KernelAttribute>{{"name", "pattern2", 0, true}});
    EventTable<TinyEvent>* const tiny = recorder->table<TinyEvent>();
    for (uint64_t row = 0; row < 65 * chunk_rows(1); ++row) {
      tiny->append(pattern_tiny(row));
    }
    recorder->end_kernel({});
    recorder->close("complete", "");
  }
  ordered_file_observe({});
  ASSERT_GT(first_commit, 0u);

  const std::string path = temp("replay.h5");
  std::filesystem::remove(path);
  std::ofstream(path).close();
  uint64_t most = 0;
  size_t states = 0;
  const auto apply = [&](uint64_t address, const unsigned char* data, size_t size) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(address));
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    const FileChange& change = changes[i];
    if (change.resize) std::filesystem::resize_file(path, change.address);
    const bool large = change.bytes.size() > 64ul * 1024;  // raw chunks: torn once in the middle is enough
    for (size_t at = 0; at < change.bytes.size();) {
      const size_t page_end = large ? at + change.bytes.size() / 2 + 1
                                    : ((change.address + at) / 4096 + 1) * 4096 - change.address;
      const size_t end = std::min(change.bytes.size(), page_end);
      apply(change.address + at, change.bytes.data() + at, end - at);
      at = end;
      if (i < first_commit) continue;
      uint64_t records = 0;
      std::string status;
      ASSERT_NO_THROW(ASSERT_EQ(check_pattern_file(path, records, status), ""))
          << "change " << i << " of " << changes.size();
      ASSERT_GE(records, most) << "records vanished at change " << i;
      most = records;
      ++states;
      if (i + 10 < changes.size()) {
        ASSERT_EQ(status, "partial");
      }
    }
  }
  EXPECT_GT(states, 300u);
  EXPECT_TRUE(read_text_file(path) == read_text_file(temp("log.h5")));
}

/// Whatever kills the process then: the program that it runs may crash on the host.
TEST(Recorder, AKernelThatHasEndedIsInTheFileSoon) {
  const std::string path = temp("ended.h5");
  std::filesystem::remove(path);
  constexpr double kNeverBetween = 1000;  // seconds
  const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1, kNeverBetween);
  const auto end_kernel = [&](uint64_t cycles) {
    recorder->begin_kernel(std::vector<KernelAttribute>{{"name", "k", 0, true}});
    recorder->end_kernel(std::vector<KernelAttribute>{{"cycles", "", cycles, false}});
  };
  const auto cycles_in_file = [&path](const std::string& kernel) -> uint64_t {
    const RecordedFile file(path);
    return file.exists(kernel) && file.has_attribute(kernel, "cycles")
               ? file.number_attribute(kernel, "cycles")
               : 0;
  };
  for (const uint64_t kernel : {0U, 1U}) {
    end_kernel(kernel + 7);
    const std::string name = "/kernels/" + std::to_string(kernel);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (cycles_in_file(name) == 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(cycles_in_file(name), kernel + 7);
  }
  recorder->close("complete", "");
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const RecordError& error) {
    return error.what();
  }
  return "no error";
}

/// At a process's end its HDF5 library closes what is open: that of a forked child would write what it has of
/// the parent's file, and cut off what the parent has written since.
TEST(Recorder, AForkedChildLeavesTheFileAlone) {
  const std::string path = temp("forked.h5"), expected = temp("not_forked.h5");
  constexpr double kNeverBetween = 1000;  // seconds
  record(expected, 2, 20'000, 0, kNeverBetween);
  const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 0, kNeverBetween);
  pid_t child = -1;
  int calls = 0, parent_has_written[2];
  ASSERT_EQ(pipe(parent_has_written), 0);
  write_pattern(*recorder, 2, 20'000, [&] {
    if (child >= 0 || ++calls < 3) return;  // there is something that is not written yet
    child = fork();
    if (child != 0) return;
    close(parent_has_written[1]);
    char none = 0;
    const bool has_ended = read(parent_has_written[0], &none, 1) == 0;
    H5close();
    _exit(has_ended ? 0 : 1);
  });
  close(parent_has_written[0]);
  close(parent_has_written[1]);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(recorder->close("complete", ""));
  EXPECT_TRUE(read_text_file(path) == read_text_file(expected));
}

/// A child that is forked amid a call of another thread finds a thread-safe library locked for good.
TEST(Recorder, WhoForksWaitsForCallsOfTheLibrary) {
  std::atomic<bool> inside = false, left = false;
  std::thread caller([&] {
    const std::scoped_lock lock(hdf5_mutex());
    inside = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    left = true;
  });
  while (!inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(left && hdf5_mutex().try_lock() ? 0 : 1);
  caller.join();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(hdf5_mutex().try_lock()) << "the parent has it still";
  hdf5_mutex().unlock();
}

TEST(Recorder, UnusablePathsAreReportedAtOnce) {
  const auto create = [](const std::string& path) {
    return error_of([&] { (void)Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1); });
  };
  EXPECT_THAT(create("/nonexistent/run.h5"),
              HasSubstr("cannot write '/nonexistent/run.h5': cannot create: No such file"));
  EXPECT_THAT(create("/proc/run.h5"), HasSubstr("cannot write '/proc/run.h5'"));
  const std::string folder = temp("folder.h5");
  std::filesystem::create_directory(folder);
  EXPECT_THAT(create(folder), HasSubstr("cannot write"));
  EXPECT_FALSE(std::filesystem::exists(folder + ".tmp"));
}

TEST(Recorder, FullDiskKeepsEarlierData) {
  for (const rlim_t limit : {rlim_t{20'000}, rlim_t{300'000}, rlim_t{1'000'000}, rlim_t{3'000'000}}) {
    const std::string path = temp("full.h5");
    std::filesystem::remove(path);
    rlimit old{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    const rlimit small{limit, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string error = error_of([&] {
      const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 1, 0);
      write_pattern(*recorder, 30, 300'000, [&] { recorder->check(); });
      recorder->close("complete", "");
    });
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    EXPECT_THAT(error, HasSubstr("cannot write '" + path + "': cannot ")) << limit;
    EXPECT_THAT(error, HasSubstr("File too large")) << limit;
    uint64_t records = 0;
    std::string status;
    if (!std::filesystem::exists(path)) continue;  // too small even for the empty file
    EXPECT_EQ(check_pattern_file(path, records, status), "") << limit;
    EXPECT_EQ(status, "partial");
    if (limit > 1'000'000) {
      EXPECT_GT(records, 0u);
    }
  }
}

TEST(Recorder, UnclosedRecordersLeavePartialFiles) {
  const std::string path = temp("unclosed.h5");
  {
    const auto recorder = Recorder::create(path, pattern_attributes(), EventLevel::kAll, 2);
    recorder->begin_kernel(std::vector<KernelAttribute>{{"name", "pattern0", 0, true}});
    EventTable<PhaseEvent>* const phase = recorder->table<PhaseEvent>();
    for (uint64_t row = 0; row < 1000; ++row) {
      phase->append(pattern_phase(row));
    }
  }
  uint64_t records = 0;
  std::string status;
  EXPECT_EQ(check_pattern_file(path, records, status), "");
  EXPECT_EQ(records, 1000u);
  EXPECT_EQ(status, "partial");
}

TEST(Recorder, ManyKernels) {
  const std::string path = temp("many.h5");
  record(path, 300, 10, 1, 0.01);
  uint64_t records = 0;
  std::string status;
  EXPECT_EQ(check_pattern_file(path, records, status), "");
  EXPECT_EQ(records, 300u * 20);
  EXPECT_LT(std::filesystem::file_size(path), 300u * 40'000);
}

template <class Event>
concept MadeWithAllColumns = requires(uint64_t n) {
  Event{.cycle = n, .address = n, .sm = n, .occupied = n, .action = MshrAction::kMerge};
};
template <class Event>
concept MadeWithoutAColumn = requires(uint64_t n) {
  Event{.cycle = n, .address = n, .occupied = n, .action = MshrAction::kMerge};
};
template <class Event>
concept MadeInAnotherOrder = requires(uint64_t n) {
  Event{.address = n, .cycle = n, .sm = n, .occupied = n, .action = MshrAction::kMerge};
};
template <class Event>
concept MadeWithoutNames = requires(uint64_t n) {
  Event{n, n, n, n, MshrAction::kMerge};
};
template <class Event, class Action>
concept MadeWithAction = requires(uint64_t n, Action action) {
  Event{.cycle = n, .address = n, .sm = n, .occupied = n, .action = action};
};
template <class Table, class Event>
concept Takes = requires(Table& table, const Event& event) {
  table.append(event);
};

TEST(EventTable, AnEventIsMadeOfAllItsColumnsByName) {
  static_assert(MadeWithAllColumns<MshrEvent>);
  static_assert(!MadeWithoutAColumn<MshrEvent>);
  static_assert(!MadeInAnotherOrder<MshrEvent>);
  static_assert(!MadeWithoutNames<MshrEvent>);
  static_assert(MadeWithAction<MshrEvent, MshrAction> && !MadeWithAction<MshrEvent, DramCommand> &&
                !MadeWithAction<MshrEvent, int>);
  static_assert(Takes<EventTable<MshrEvent>, MshrEvent> && !Takes<EventTable<MshrEvent>, DramEvent>);
}

TEST(EventTable, IsDescribedAsItIsDeclared) {
  const TableSchema& schema = schema_of<MshrEvent>();
  EXPECT_EQ(schema.path, "events/mshr");
  EXPECT_EQ(schema.meaning, "miss-status registers");
  EXPECT_EQ(schema.record_bytes, 8u + 8 + 2 + 2 + 1);
  std::vector<std::string> names;
  std::vector<ColumnType> types;
  std::vector<uint32_t> offsets;
  for (const Column& column : schema.columns) {
    names.push_back(column.name);
    types.push_back(column.type);
    offsets.push_back(column.offset);
  }
  EXPECT_THAT(names, testing::ElementsAre("cycle", "address", "sm", "occupied", "action"));
  using enum ColumnType;
  EXPECT_THAT(types, testing::ElementsAre(kU64, kU64, kU16, kU16, kU8));
  EXPECT_THAT(offsets, testing::ElementsAre(0, 8, 16, 18, 20));
  EXPECT_EQ(schema.columns[3].unit, "entries");
  EXPECT_EQ(schema.columns[3].meaning, "in use afterwards");
}

TEST(Read, RefusesOtherFiles) {
  std::ofstream(temp("no.h5")) << "not HDF5";
  EXPECT_THROW(RecordedFile file(temp("no.h5")), RecordError);
  EXPECT_THROW(RecordedFile file(temp("missing.h5")), RecordError);
}

}  // namespace
}  // namespace gpusim::core
