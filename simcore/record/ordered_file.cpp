#include "simcore/record/ordered_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace gpusim::core {
namespace {

constexpr haddr_t kPage = 4096;
/// Metadata never ends exactly at the end of the file: HDF5 would extend such an object in place.
constexpr haddr_t kGap = 8;

std::function<void(const FileChange&)>& observer() {
  static std::function<void(const FileChange&)> function;
  return function;
}

struct DriverInfo {
  OrderedFileState* state;
};

struct Extent {
  H5FD_mem_t type;
  std::vector<unsigned char> bytes;
};

class OrderedFile {
 public:
  OrderedFile(int fd, OrderedFileState& state) : fd_(fd), state_(state) { state.file = this; }
  ~OrderedFile() {
    state_.file = nullptr;
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] haddr_t eoa() const { return eoa_; }
  void set_eoa(haddr_t address) { eoa_ = address; }
  [[nodiscard]] haddr_t eof() const { return std::max(file_bytes_, eoa_); }

  haddr_t allocate(H5FD_mem_t type, hsize_t size) {
    if (type == H5FD_MEM_DRAW) {
      const haddr_t address = eoa_;
      eoa_ += size;
      return address;
    }
    if (size > kPage - kGap) {
      const haddr_t address = (eoa_ + kPage - 1) / kPage * kPage;
      eoa_ = address + size + kGap;
      return address;
    }
    if (page_next_ + size + kGap > page_end_) {
      page_next_ = (eoa_ + kPage - 1) / kPage * kPage;
      page_end_ = page_next_ + kPage;
      eoa_ = page_end_;
    }
    const haddr_t address = page_next_;
    page_next_ += (size + 7) / 8 * 8;
    return address;
  }

  bool read(haddr_t address, size_t size, unsigned char* out) {
    if (!read_disk(address, size, out)) return false;
    auto extent = pending_.upper_bound(address);
    if (extent != pending_.begin()) --extent;
    for (; extent != pending_.end() && extent->first < address + size; ++extent) {
      const haddr_t begin = std::max(address, extent->first);
      const haddr_t end = std::min<haddr_t>(address + size, extent->first + extent->second.bytes.size());
      if (begin < end)
        std::memcpy(out + (begin - address), extent->second.bytes.data() + (begin - extent->first),
                    end - begin);
    }
    return true;
  }

  bool write(H5FD_mem_t type, haddr_t address, size_t size, const unsigned char* data) {
    if (is_lost()) return true;
    if (type == H5FD_MEM_DRAW) return write_disk(address, data, size);
    drop_overlap(address, size);
    pending_[address] = {type, std::vector<unsigned char>(data, data + size)};
    return true;
  }

  bool commit() {
    if (is_lost()) return false;
    std::vector<Change> changes;
    for (const auto& [address, extent] : pending_) {
      if (is_committed(address)) {
        if (!add_change(address, extent, changes)) return false;
      } else if (!write_disk(address, extent.bytes.data(), extent.bytes.size())) {
        return false;
      }
    }
    if (file_bytes_ < eoa_ && !resize(eoa_)) return false;
    std::ranges::stable_sort(changes, [](const Change& a, const Change& b) { return a.rank < b.rank; });
    for (const Change& change : changes) {
      if (!write_change(change)) return false;
    }
    pending_.clear();
    committed_eoa_ = eoa_;
    committed_page_next_ = page_next_;
    committed_page_end_ = page_end_;
    return true;
  }

  bool finish() {
    if (is_lost()) return true;
    if (!commit()) return false;
    if (file_bytes_ != eoa_ && !resize(eoa_)) return false;
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 || fail("close");
  }

 private:
  /// A committed object that changed: bytes [first, last) of it.
  struct Change {
    std::pair<int, int64_t> rank;
    haddr_t address;
    const std::vector<unsigned char>* bytes;
    size_t first, last;
    bool low_first;  ///< order of pages, if the change crosses one
  };

  /// No more is written: it failed, or this is a forked child, whose HDF5 closes the parent's files when the
  /// child ends.
  [[nodiscard]] bool is_lost() const { return state_.dead || ::getpid() != owner_; }

  bool fail(const char* what) {
    if (state_.error.empty()) state_.error = fmt::format("cannot {}: {}", what, std::strerror(errno));
    state_.dead = true;
    return false;
  }

  /// Fresh addresses were handed out after the last commit: past its end of file, or in the page it left
  /// unfinished.
  [[nodiscard]] bool is_committed(haddr_t address) const {
    return address < committed_eoa_ && !(address >= committed_page_next_ && address < committed_page_end_);
  }

  bool add_change(haddr_t address, const Extent& extent, std::vector<Change>& changes) {
    std::vector<unsigned char> old(extent.bytes.size());
    if (!read_disk(address, old.size(), old.data())) return false;
    const auto [from, ignored] = std::ranges::mismatch(old, extent.bytes);
    if (from == old.end()) return true;
    const auto first = static_cast<size_t>(from - old.begin());
    size_t last = old.size();
    while (old[last - 1] == extent.bytes[last - 1]) --last;
    Change change{{0, 0}, address, &extent.bytes, first, last, false};
    const bool is_node = old.size() >= 8 && std::memcmp(extent.bytes.data(), "TREE", 4) == 0;
    if (is_node) {
      // A node's own byte 5 is its level, bytes 6-7 its number of entries: a growing node gets its tail
      // first.
      change.rank = {1, -static_cast<int64_t>(extent.bytes[5])};
      change.low_first = entries(extent.bytes) < entries(old);
    } else if (extent.type != H5FD_MEM_SUPER) {
      change.rank = {2, -static_cast<int64_t>(address)};
    }
    changes.push_back(change);
    return true;
  }
  static int entries(const std::vector<unsigned char>& node) { return node[6] | (node[7] << 8); }

  bool write_change(const Change& change) {
    std::vector<std::pair<size_t, size_t>> pieces;
    for (size_t at = change.first; at < change.last;) {
      const size_t page_end =
          static_cast<size_t>(((change.address + at) / kPage + 1) * kPage - change.address);
      const size_t end = std::min(change.last, page_end);
      pieces.emplace_back(at, end);
      at = end;
    }
    if (!change.low_first) std::ranges::reverse(pieces);
    for (const auto& [begin, end] : pieces) {
      if (!write_disk(change.address + begin, change.bytes->data() + begin, end - begin)) return false;
    }
    return true;
  }

  /// Pending extents are whole cache entries; one that moved or grew may overlap an older one, which it
  /// replaces.
  void drop_overlap(haddr_t address, size_t size) {
    auto extent = pending_.upper_bound(address);
    if (extent != pending_.begin()) --extent;
    while (extent != pending_.end() && extent->first < address + size) {
      const haddr_t begin = extent->first;
      Extent old = std::move(extent->second);
      const haddr_t end = begin + old.bytes.size();
      if (end <= address) {
        extent->second = std::move(old);
        ++extent;
        continue;
      }
      extent = pending_.erase(extent);
      if (begin < address) {
        pending_[begin] = {old.type,
                           {old.bytes.begin(), old.bytes.begin() + static_cast<ptrdiff_t>(address - begin)}};
      }
      if (end > address + size) {
        pending_[address + size] = {
            old.type, {old.bytes.begin() + static_cast<ptrdiff_t>(address + size - begin), old.bytes.end()}};
      }
    }
  }

  bool read_disk(haddr_t address, size_t size, unsigned char* out) {
    std::memset(out, 0, size);
    while (size > 0) {
      const ssize_t n = pread(fd_, out, size, static_cast<off_t>(address));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail("read");
      if (n == 0) return true;
      address += static_cast<haddr_t>(n);
      out += n;
      size -= static_cast<size_t>(n);
    }
    return true;
  }

  bool resize(haddr_t bytes) {
    if (observer()) observer()({bytes, {}, true});
    if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) return fail("extend");
    file_bytes_ = bytes;
    return true;
  }

  bool write_disk(haddr_t address, const unsigned char* data, size_t size) {
    if (observer()) observer()({address, {data, data + size}, false});
    while (size > 0) {
      const ssize_t n = pwrite(fd_, data, size, static_cast<off_t>(address));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return fail("write");
      address += static_cast<haddr_t>(n);
      data += n;
      size -= static_cast<size_t>(n);
    }
    file_bytes_ = std::max(file_bytes_, address);
    return true;
  }

  int fd_;
  pid_t owner_ = ::getpid();
  OrderedFileState& state_;
  haddr_t eoa_ = 0;
  haddr_t file_bytes_ = 0;
  haddr_t page_next_ = 0, page_end_ = 0;
  haddr_t committed_eoa_ = 0, committed_page_next_ = 0, committed_page_end_ = 0;
  std::map<haddr_t, Extent> pending_;
};

/// What HDF5 holds: its own part first, as drivers must.
struct DriverFile {
  H5FD_t base;
  OrderedFile* file;
};
OrderedFile& of(H5FD_t* file) { return *reinterpret_cast<DriverFile*>(file)->file; }
const OrderedFile& of(const H5FD_t* file) { return *reinterpret_cast<const DriverFile*>(file)->file; }

H5FD_t* driver_open(const char* name, unsigned flags, hid_t fapl, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(fapl));
  if (info == nullptr || (flags & H5F_ACC_CREAT) == 0) return nullptr;  // a writer only
  const int fd = ::open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    info->state->error = fmt::format("cannot create: {}", std::strerror(errno));
    return nullptr;
  }
  return &(new DriverFile{{}, new OrderedFile(fd, *info->state)})->base;
}

herr_t driver_close(H5FD_t* file) {
  auto* own = reinterpret_cast<DriverFile*>(file);
  const bool good = own->file->finish();
  delete own->file;
  delete own;
  return good ? 0 : -1;
}

herr_t driver_query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t driver_alloc(H5FD_t* file, H5FD_mem_t type, hid_t, hsize_t size) {
  return of(file).allocate(type, size);
}
haddr_t driver_get_eoa(const H5FD_t* file, H5FD_mem_t) { return of(file).eoa(); }
haddr_t driver_get_eof(const H5FD_t* file, H5FD_mem_t) { return of(file).eof(); }
herr_t driver_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  of(file).set_eoa(address);
  return 0;
}
herr_t driver_read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* out) {
  return of(file).read(address, size, static_cast<unsigned char*>(out)) ? 0 : -1;
}
herr_t driver_write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* data) {
  return of(file).write(type, address, size, static_cast<const unsigned char*>(data)) ? 0 : -1;
}

hid_t driver_id() {
  static const hid_t id = [] {
    static H5FD_class_t driver{};
    driver.name = "gpusim_ordered";
    driver.maxaddr = (haddr_t{1} << 62);
    driver.fc_degree = H5F_CLOSE_STRONG;
    driver.fapl_size = sizeof(DriverInfo);
    driver.open = driver_open;
    driver.close = driver_close;
    driver.query = driver_query;
    driver.alloc = driver_alloc;
    driver.get_eoa = driver_get_eoa;
    driver.set_eoa = driver_set_eoa;
    driver.get_eof = driver_get_eof;
    driver.read = driver_read;
    driver.write = driver_write;
    const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(driver.fl_map));
    return H5FDregister(&driver);
  }();
  return id;
}

}  // namespace

hid_t ordered_file_access(OrderedFileState& state) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{&state};
  H5Pset_driver(access, driver_id(), &info);
  return access;
}

bool ordered_file_commit(OrderedFileState& state) {
  return state.file != nullptr && static_cast<OrderedFile*>(state.file)->commit();
}

void ordered_file_observe(std::function<void(const FileChange&)> function) {
  observer() = std::move(function);
}

}  // namespace gpusim::core
