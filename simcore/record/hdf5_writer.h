// The HDF5 side of the recorder: everything that calls the HDF5 library for writing. Used by one thread (the
// recorder's writer); holds hdf5_mutex() while in the library, because readers of the same process call it
// too.
#pragma once
#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "simcore/record/file_claim.h"
#include "simcore/record/ordered_file.h"
#include "simcore/record/recorder.h"

namespace gpusim::core {

/// HDF5 libraries need not be thread-safe: every call in this process holds this lock. Who forks waits for
/// it: a child has none of the threads that could leave the library again, which a thread-safe one closes at
/// its end.
[[nodiscard]] std::mutex& hdf5_mutex();

inline constexpr uint64_t kSchemaVersion = 1;
inline constexpr size_t kChunkBytes = 1u << 20;
inline constexpr size_t kChunkRows = 1u << 16;
/// Records per chunk of a table.
[[nodiscard]] constexpr size_t chunk_rows(uint32_t record_bytes) {
  const size_t fitting = kChunkBytes / record_bytes;
  return fitting < kChunkRows ? (fitting > 0 ? fitting : 1) : kChunkRows;
}

/// One chunk after the filters: shuffle and deflate, or stored as it is if deflate does not shrink it.
struct PackedChunk {
  std::vector<unsigned char> bytes;
  uint32_t filter_mask = 0;
};
[[nodiscard]] PackedChunk pack_chunk(const std::byte* records, size_t rows, uint32_t record_bytes);

/// All functions throw RecordError.
class Hdf5Writer {
 public:
  /// Creates the file under a temporary name, commits it as a partial file, checks that it opens, and renames
  /// it, unless something worth keeping has the name: that stays until close().
  Hdf5Writer(const std::string& path, const RunAttributes& attributes);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  /// In the place of a kernel's number: the run, whose tables lie at the root.
  static constexpr uint64_t kRun = ~0ull;
  void begin_kernel(uint64_t kernel, std::span<const KernelAttribute> attributes);
  void end_kernel(uint64_t kernel, std::span<const KernelAttribute> attributes);
  /// Declares an event table of an open kernel; the dataset is made with the first data.
  void declare_table(uint64_t kernel, size_t id, const TableSchema& schema);
  void append_chunk(size_t id, const PackedChunk& chunk);
  /// The last rows of a table (fewer than a chunk, possibly none).
  void finish_table(size_t id, std::span<const std::byte> records);
  void write_table(uint64_t kernel, const TableSchema& schema, std::span<const std::byte> records,
                   uint64_t rows, std::span<const std::vector<std::string>> texts);
  /// Flushes and commits: from here on a kill leaves at least the present state.
  void commit();
  /// False if the file is gone because it is partial and another, which is whole, has its name.
  bool close(std::string_view status, std::string_view reason);

 private:
  struct Table {
    uint64_t kernel = 0;
    TableSchema schema;
    hid_t dataset = -1;
    hsize_t rows = 0;
  };
  [[noreturn]] void fail(const std::string& what) const;
  hid_t checked(hid_t id, const char* what) const;
  void write_root(const RunAttributes& attributes);
  void text_attribute(hid_t object, const std::string& name, std::string_view text, size_t room = 0);
  void text_list_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
  void number_attribute(hid_t object, const std::string& name, uint64_t value);
  void kernel_attributes(hid_t group, std::span<const KernelAttribute> attributes);
  [[nodiscard]] hid_t group_of(uint64_t kernel) const { return kernel == kRun ? file_ : open_.at(kernel); }
  void text_dataset(const std::string& path, const std::string& text);
  /// Makes the groups of a table's path that are not there yet.
  void make_groups_of(hid_t parent, const std::string& path);
  hid_t make_group(hid_t parent, const std::string& name, size_t expected_links);
  void describe(hid_t dataset, const TableSchema& schema);
  hid_t make_dataset(hid_t group, const TableSchema& schema, hid_t type, hsize_t rows, bool growing);
  [[nodiscard]] static hid_t record_type(const TableSchema& schema);

  std::string path_;
  FileClaim claim_;  ///< ends after the file is closed
  OrderedFileState state_;
  hid_t file_ = -1, kernels_ = -1;
  std::map<uint64_t, hid_t> open_;  ///< groups of open kernels
  std::map<size_t, Table> tables_;
};

}  // namespace gpusim::core
