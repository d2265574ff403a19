#include "simcore/text/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "simcore/text/input_error.h"

namespace gpusim::core {

WholeFile::WholeFile(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
  std::error_code error;
  if (std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error))
    raise_input_error({path_}, "only regular files are replaced");
  file_ = std::fopen(part_.c_str(), "w");
  if (file_ == nullptr) fail();
}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(part_.c_str());
}

void WholeFile::flush(size_t at_least) {
  if (text_.size() < at_least) return;
  failed_ |= std::fwrite(text_.data(), 1, text_.size(), file_) != text_.size();
  text_.clear();
}

void WholeFile::commit() {
  flush(0);
  failed_ |= std::fclose(std::exchange(file_, nullptr)) != 0;
  if (failed_ || std::rename(part_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(part_.c_str());
    errno = reason;
    fail();
  }
}

void WholeFile::fail() const {
  raise_input_error({path_}, fmt::format("cannot be written: {}", std::strerror(errno)));
}

void write_whole_file(const std::string& path, std::string_view text) {
  WholeFile file(path);
  file.text().append(text);
  file.commit();
}

}  // namespace gpusim::core
