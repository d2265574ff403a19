// One writer for each file: a recorded file is made under a temporary name, locked, and given its name only
// if no run that is still going on writes to that name. What is there under that name may be held, locked as
// well, until then. The lock (fcntl, of the open file description) ends with the process, however that ends,
// and does not hinder readers: HDF5 uses flock.
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
  /// Keeps the file that has the name until publish(), and other claims of it away; throws if another has it.
  /// False if there is none: then nothing is held.
  [[nodiscard]] bool hold();
  /// Gives the file its name; throws if another claim holds that.
  void publish();
  [[nodiscard]] bool published() const { return published_; }

 private:
  /// The file that has the name, locked; -1 if there is none.
  [[nodiscard]] int lock_present() const;
  /// One try; false if another file got the name meanwhile.
  [[nodiscard]] bool try_publish();
  [[noreturn]] void fail(const std::string& why) const;

  std::string path_, temporary_;
  int fd_ = -1, held_ = -1;
  bool published_ = false;
};

}  // namespace gpusim::core
