// One writer for each file: a recorded file is made under a temporary name, locked, and given its name only
// if no run that is still going on writes to that name. The lock (fcntl, of the open file description) ends
// with the process, however that ends, and does not hinder readers: HDF5 uses flock.
#pragma once
#include <string>

namespace gpusim::core {

/// All functions throw RecordError.
class FileClaim {
 public:
  /// Makes an empty file beside `path` and locks it.
  explicit FileClaim(std::string path);
  /// Removes the temporary file if it was not published, and ends the claim.
  ~FileClaim();
  FileClaim(const FileClaim&) = delete;
  FileClaim& operator=(const FileClaim&) = delete;

  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  /// Gives the file its name; throws if another claim holds that.
  void publish();

 private:
  /// One try; false if another file got the name meanwhile.
  [[nodiscard]] bool try_publish();
  [[noreturn]] void fail(const std::string& why) const;

  std::string path_, temporary_;
  int fd_ = -1;
  bool published_ = false;
};

}  // namespace gpusim::core
