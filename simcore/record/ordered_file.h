// An HDF5 file driver that makes a file survive `kill -9` at any moment. Raw data goes straight to fresh
// addresses; metadata is held back until commit(), which writes it in an order in which every intermediate
// state is a valid file:
//   1. everything at fresh addresses (nothing on disk refers to it yet), the file extended to its new end
//   2. the superblock (new end of file)
//   3. changed chunk B-tree nodes, upper levels first (an upper node may only refer to nodes already written)
//   4. changed object headers (dataset extents, links, attributes), continuation chunks before what points to
//   them
// Only the changed bytes of a changed object are written, and objects are placed so that they do not straddle
// a 4 KiB page: one write call within a page is not torn by a signal. docs/file_format.md tells what this
// does not cover.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpusim::core {

/// State shared between the driver and the recorder; outlives the file.
struct OrderedFileState {
  std::string error;     ///< first failed system call, empty if none
  bool dead = false;     ///< after an error: further writes are dropped, so that HDF5 can close in peace
  void* file = nullptr;  ///< the open driver file
};

/// A file access property list for the driver; closed by the caller (H5Pclose). `state` must outlive the
/// file.
[[nodiscard]] hid_t ordered_file_access(OrderedFileState& state);

/// Writes the held-back metadata. Call after H5Fflush. False on an error (state.error).
bool ordered_file_commit(OrderedFileState& state);

/// One system call that changed a file: bytes written at `address`, or (no data) the file extended or cut to
/// `address`.
struct FileChange {
  uint64_t address = 0;
  std::vector<unsigned char> bytes;
  bool resize = false;
};
/// For crash tests: sees every change of every file, in order, as it is made. An empty function ends it.
void ordered_file_observe(std::function<void(const FileChange&)> observer);

}  // namespace gpusim::core
