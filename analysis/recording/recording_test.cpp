#include "analysis/recording/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "analysis/report/guarded.h"
#include "analysis/testing/small_recording.h"
#include "simcore/text/input_error.h"
#include "simcore/text/text_file.h"

namespace gpusim::analysis {
namespace {

using test::SmallRecording;
using test::temp_path;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// What reading all of the file complains about; empty if nothing.
std::string complaint(const std::string& path, const std::string& selection = "") {
  try {
    const Recording recording(path);
    for (const uint64_t index : recording.select(selection)) (void)recording.kernel(index);
  } catch (const core::RecordError& e) {
    return e.what();
  }
  return "";
}

std::string complaint(const SmallRecording& recording, const std::string& selection = "") {
  return complaint(recording.write(temp_path("r.h5")), selection);
}

/// Changes a written file by the HDF5 library.
std::string edited(const std::function<void(hid_t)>& change) {
  std::string path = SmallRecording().write(temp_path("r.h5"));
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(file, 0);
  change(file);
  H5Fclose(file);
  return path;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST(Recording, ReadsWhatWasRecorded) {
  SmallRecording small;
  small.kernels = small.finished_kernels = 2;
  const Recording recording(small.write(temp_path("r.h5")));
  EXPECT_EQ(recording.machine(), small.machine);
  EXPECT_THAT(recording.select(""), ElementsAre(0, 1));
  EXPECT_THAT(recording.select("1"), ElementsAre(1));
  EXPECT_THAT(recording.select("second"), ElementsAre(1));
  const KernelRecord k = recording.kernel(1);
  EXPECT_EQ(k.name, "second");
  EXPECT_EQ(k.grid, "2,1,1");
  EXPECT_EQ(k.cycles, 20u);
  EXPECT_EQ(k.total_slots(), 20u);
  EXPECT_EQ(k.slots_of("memory_dram"), 4u);
  EXPECT_THAT(k.per_sm["active_cycles"], ElementsAre(18, 10));
  EXPECT_THAT(k.per_pc.texts.at("class"), ElementsAre("load_global", "fp32", "store_shared", "branch"));
  EXPECT_EQ(k.counters.at("thread_instructions"), 200);
}

TEST(Recording, SaysWhatAFileIsInsteadOfARecording) {
  const std::string folder = testing::TempDir();
  EXPECT_THAT(complaint(folder + "/nothere.h5"),
              HasSubstr("nothere.h5': cannot open: No such file or directory; expected"));
  EXPECT_THAT(complaint(folder), HasSubstr("is a folder"));
  const std::string path = temp_path("x");
  for (const std::string& content : {std::string(), std::string("\x89HDF"), std::string("kernel text\n")}) {
    write_file(path, content);
    EXPECT_THAT(complaint(path), HasSubstr("is not an HDF5 file"));
  }
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(complaint(path), HasSubstr("not a regular file"));
  std::filesystem::remove(path);
}

TEST(Recording, RefusesOtherHdf5Files) {
  const std::string path = temp_path("other.h5");
  hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_THAT(complaint(path), HasSubstr("not a gpusim recording"));
  // Text of variable length, as h5py writes it, is no number of bytes to trust.
  file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t text = H5Tcopy(H5T_C_S1), one = H5Screate(H5S_SCALAR);
  H5Tset_size(text, H5T_VARIABLE);
  const char* value = "gpusim";
  for (const char* name : {"program", "schema_version"}) {
    const hid_t attribute = H5Acreate2(file, name, text, one, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, &value);
    H5Aclose(attribute);
  }
  H5Sclose(one);
  H5Tclose(text);
  H5Fclose(file);
  EXPECT_THAT(complaint(path), HasSubstr("'program' of '/' is no text of fixed length"));
}

TEST(Recording, RefusesAnotherSchemaVersion) {
  EXPECT_THAT(complaint(edited([](hid_t file) {
                const hid_t attribute = H5Aopen(file, "schema_version", H5P_DEFAULT);
                const uint64_t version = 77;
                H5Awrite(attribute, H5T_NATIVE_UINT64, &version);
                H5Aclose(attribute);
              })),
              HasSubstr("has schema version 77, this program reads version 1"));
}

TEST(Recording, RefusesAttributesOfOddShape) {
  EXPECT_THAT(complaint(edited([](hid_t file) {
                H5Adelete(file, "schema_version");
                const hsize_t many = 1000;
                const hid_t space = H5Screate_simple(1, &many, nullptr);
                const hid_t attribute =
                    H5Acreate2(file, "schema_version", H5T_NATIVE_UINT64, space, H5P_DEFAULT, H5P_DEFAULT);
                const std::vector<uint64_t> ones(many, 1);
                H5Awrite(attribute, H5T_NATIVE_UINT64, ones.data());
                H5Aclose(attribute);
                H5Sclose(space);
              })),
              HasSubstr("'schema_version' of '/' is not one integer"));
}

TEST(Recording, RefusesMissingAndOddTables) {
  for (const char* table : {"per_sm", "per_pc", "issue_slots", "counters"}) {
    const std::string name = std::string("/kernels/0/") + table;
    EXPECT_THAT(complaint(edited([&](hid_t file) { H5Ldelete(file, name.c_str(), H5P_DEFAULT); })),
                AllOf(HasSubstr(name + "' is missing"), HasSubstr("damaged")));
    // A plain array, which claims more than any memory.
    const std::string odd = complaint(edited([&](hid_t file) {
      H5Ldelete(file, name.c_str(), H5P_DEFAULT);
      const hsize_t rows = hsize_t{1} << 50, chunk = 1024;
      const hid_t space = H5Screate_simple(1, &rows, nullptr), layout = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(layout, 1, &chunk);
      H5Dclose(H5Dcreate2(file, name.c_str(), H5T_NATIVE_UINT64, space, H5P_DEFAULT, layout, H5P_DEFAULT));
      H5Pclose(layout);
      H5Sclose(space);
    }));
    EXPECT_THAT(odd, HasSubstr(name)) << odd;
  }
}

TEST(Recording, RefusesATableThatClaimsMoreRowsThanTheFileHolds) {
  EXPECT_THAT(
      complaint(edited([](hid_t file) {
        H5Ldelete(file, "/kernels/0/issue_slots", H5P_DEFAULT);
        const hsize_t rows = hsize_t{1} << 50, chunk = 1024;
        const hid_t space = H5Screate_simple(1, &rows, nullptr), layout = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(layout, 1, &chunk);
        const hid_t record = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(record, "slots", 0, H5T_NATIVE_UINT64);
        H5Dclose(H5Dcreate2(file, "/kernels/0/issue_slots", record, space, H5P_DEFAULT, layout, H5P_DEFAULT));
        H5Tclose(record);
        H5Pclose(layout);
        H5Sclose(space);
      })),
      HasSubstr("has 1125899906842624 rows, more than the file can hold"));
}

TEST(Recording, RefusesMissingColumns) {
  SmallRecording small;
  std::erase(small.pc_columns, "requested_bytes");
  EXPECT_THAT(complaint(small), HasSubstr("'/kernels/0/per_pc' has no column 'requested_bytes'"));
  small = {};
  std::erase(small.sm_columns, "active_cycles");
  EXPECT_THAT(complaint(small), HasSubstr("'/kernels/0/per_sm' has no column 'active_cycles'"));
}

TEST(Recording, RefusesAConfigurationThatWasChanged) {
  SmallRecording small;
  small.config_text = "[gpu]\nsms = \"many\"\n";
  EXPECT_THAT(complaint(small), HasSubstr("not a machine description"));
  EXPECT_THAT(complaint(edited([](hid_t file) {
                H5Ldelete(file, "/inputs/config", H5P_DEFAULT);
                H5Lcreate_soft("/inputs/ptx", file, "/inputs/config", H5P_DEFAULT, H5P_DEFAULT);
              })),
              HasSubstr("is not the text that config_sha256 was computed from"));
}

TEST(Recording, RefusesKernelsThatDoNotExistOrDidNotEnd) {
  SmallRecording small;
  EXPECT_THAT(complaint(small, "frist"),
              AllOf(HasSubstr("no kernel 'frist'"), HasSubstr("did you mean 'first'?")));
  EXPECT_THAT(complaint(small, "1"), HasSubstr("no kernel '1' (1 launches"));
  small.kernels = small.finished_kernels = 0;
  EXPECT_THAT(complaint(small), HasSubstr("recorded no kernel"));
  small = {};
  small.status = "partial", small.reason = "interrupted", small.kernels = 3, small.finished_kernels = 2;
  const std::string path = small.write(temp_path("r.h5"));
  EXPECT_EQ(complaint(path), "");
  EXPECT_THAT(Recording(path).select(""), ElementsAre(0, 1));
  EXPECT_EQ(Recording(path).partial_note(), "the run is partial (interrupted): kernels 0 to 1 of it ended");
  EXPECT_EQ(complaint(path, "0"), "");
  EXPECT_THAT(complaint(path, "2"), HasSubstr("kernel 2 'second' did not end"));
  EXPECT_EQ(complaint(path, "second"), "");  // kernel 1 ended
  small.finished_kernels = 0;
  EXPECT_THAT(complaint(small), HasSubstr("no kernel of it ended"));
  small.status = "complete", small.reason = "";
  EXPECT_THAT(complaint(small), AllOf(HasSubstr("though the run is complete"), HasSubstr("damaged")));
}

/// One number changed: which sum notices?
TEST(Recording, RefusesSumsThatDoNotAgree) {
  EXPECT_EQ(complaint(SmallRecording()), "");
  const std::vector<std::pair<std::function<void(SmallRecording&)>, const char*>> damages{
      {[](auto& r) { r.totals["memory_dram"] = 5; },
       "issue_slots of 'memory_dram' is 5, but column "
       "'slots_memory_dram' of per_sm sums to 4"},
      {[](auto& r) { r.operations[1].values["slots_memory_dram"] = 3; },
       "issue_slots of 'memory_dram' is 4, but column 'slots_memory_dram' of per_pc sums to 3"},
      {[](auto& r) { r.operations[1].values["slots_no_warp"] = 6; }, "issue_slots of 'no_warp' is 0"},
      {[](auto& r) { r.cycles = 22; }, "SM 0 has 10 issue slots, expected 22 cycles / 2 x 1"},
      {[](auto& r) { r.cycles = 21; }, "21 cycles are no whole number of issue slots"},
      {[](auto& r) { r.operations[0].values["executed"] = 1; }, "column 'executed' of per_pc sums to 5"},
      {[](auto& r) { r.operations[2].values["replays"] = 1; },
       "inst_issued - inst_executed is 2, but column "
       "'replays' of per_pc sums to 1"},
      {[](auto& r) { r.sms[1]["inst_issued"] = 3; }, "column 'inst_issued' of per_sm sums to 9"},
      {[](auto& r) { r.counters["inst_executed"] = 7; }, "inst_executed is 7, but only 6 slots issued"},
      {[](auto& r) { r.counters["inst_executed"] = 5; },
       "inst_executed is 5, but column 'inst_executed' of per_sm sums to 6"},
      {[](auto& r) { r.counters["inst_issued"] = 5; }, "inst_issued is 5, less than inst_executed, 6"},
      {[](auto& r) { r.operations[2].values["pc"] = 1; }, "row 2 of per_pc is operation 1"},
      {[](auto& r) { r.sms[0]["slots_barrier"] = ~uint64_t{0}, r.sms[1]["slots_barrier"] = 2; },
       "sums to more than 64 bits hold"},
  };
  for (const auto& [damage, message] : damages) {
    SmallRecording small;
    damage(small);
    EXPECT_THAT(complaint(small),
                AllOf(HasSubstr("kernel 0 'first': "), HasSubstr(message), HasSubstr("damaged")));
  }
}

TEST(Recording, RefusesEveryTruncation) {
  const std::string path = SmallRecording().write(temp_path("r.h5"));
  const std::string whole = core::read_text_file(path);
  for (size_t i = 0; i < 48; ++i) {
    write_file(path, whole.substr(0, whole.size() * i / 48));
    EXPECT_THAT(complaint(path),
                testing::AnyOf(HasSubstr("cut off or damaged"), HasSubstr("is not an HDF5 file")));
  }
}

TEST(Recording, NoByteMakesItCrash) {
  const std::string path = SmallRecording().write(temp_path("r.h5"));
  const std::string whole = core::read_text_file(path);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    std::string damaged = whole;
    for (int n = i % 3; n >= 0; --n) damaged[random() % damaged.size()] = static_cast<char>(random());
    write_file(path, damaged);
    try {
      EXPECT_EQ(guarded(path, [&] { return complaint(path).empty() ? 0 : 1; }) / 2, 0);
    } catch (const core::RecordError& e) {
      ++refused;
      EXPECT_THAT(e.what(), HasSubstr("reading it fails"));
    }
  }
  EXPECT_LT(refused, 50);
}

TEST(Guarded, TurnsEveryEndingIntoAResultOrAnError) {
  const auto error_of = [](const std::function<int()>& work, unsigned seconds = 120) {
    try {
      (void)guarded("f.h5", work, seconds);
    } catch (const core::RecordError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(guarded("f.h5", [] { return 3; }), 3);
  EXPECT_EQ(error_of([]() -> int { throw core::RecordError("why"); }), "why");
  EXPECT_EQ(error_of([]() -> int { throw std::bad_alloc(); }), "out of memory");
  EXPECT_THROW(guarded("f.h5", []() -> int { throw core::InputError("why"); }), core::InputError);
  EXPECT_THAT(error_of([]() -> int { std::abort(); }), HasSubstr("'f.h5': reading it fails (it crashes)"));
  const std::atomic<bool> done{false};
  EXPECT_THAT(error_of(
                  [&done] {
                    while (!done) {
                    }
                    return 0;
                  },
                  1),
              HasSubstr("it does not come to an end"));
}

}  // namespace
}  // namespace gpusim::analysis
