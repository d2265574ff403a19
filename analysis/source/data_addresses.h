// Where accesses to memory go, as far as a program's text says.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace gpusim::analysis {

/// The address of an operation's access.
struct AddressOrigin {
  /// It follows from a value that was loaded, as in x[index[i]]: what of these lies side by side is a matter
  /// of the data. An index that a loop counts up from a loaded start, as in the rows of a sparse matrix, is
  /// none: there the threads decide.
  bool of_data = false;
  /// A loop counts it up from where a loaded value says, and its thread's number says nothing beside that, as
  /// in the fields of a record that the data choose.
  bool begins_of_data = false;
  /// It follows from a number with a fraction that differs between threads, as the points of a picture that
  /// is turned or scaled do: neighbours are near each other, and in no line.
  bool of_fraction = false;
  /// It follows from a number that was mixed, as hashes and random numbers are: neighbouring threads have
  /// places that have nothing to do with each other.
  bool of_mixture = false;
  /// A register of which it follows has several definitions: a loop may give it another value each time.
  bool of_loop = false;
  /// A loop counts such a register up in some turns and down in others, as a stack's top.
  bool wanders = false;
  bool of_block = false;  ///< it follows from the block's number
  bool of_rows = false;   ///< it follows from the thread's number in y or z
  bool of_lane = false;   ///< it follows from the thread's number in x, or the lane's
  /// Threads of a row of the grid, in the order of their blocks, access one piece of memory from its
  /// beginning to its end: array[blockIdx.x * blockDim.x + threadIdx.x], and likewise in a loop.
  bool contiguous = false;
  /// Addresses of different threads and times are a multiple of these bytes apart, as those of one field of
  /// the records of an array are: 0 if all are the same, and 1 if nothing is known.
  uint64_t stride = 0;
  uint64_t offset = 0;  ///< of the field: in the record, from `base`
  std::string base;     ///< what is added to it that is the same for all threads: the array
  uint64_t bytes = 0;   ///< that a thread accesses; 0 if the operation is none
  /// Addresses of one thread in different turns of its loops are a multiple of these bytes apart: 0 if no
  /// loop changes them, and 1 if nothing is known.
  uint64_t turn = 0;
  uint64_t place_in_turn =
      0;  ///< where it lies between these multiples, from a start that accesses may share
};

/// `statements`: those of the whole kernel in PTX, such as "ld.global.f32 %f1, [%rd5+4]"; `operations`: for
/// each operation, the statement that it comes of.
[[nodiscard]] std::vector<AddressOrigin> address_origins(std::vector<std::string> statements,
                                                         const std::vector<std::string>& operations);

/// For each operation, `of_data` of its address.
[[nodiscard]] std::vector<bool> addresses_of_data(std::vector<std::string> statements,
                                                  const std::vector<std::string>& operations);

}  // namespace gpusim::analysis
