#include "simcore/record/read.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>

#include "simcore/record/hdf5_writer.h"

namespace gpusim::core {
namespace {

/// An identifier with its closing function; an invalid one throws.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t), const std::string& file, const std::string& what)
      : id_(id), close_(close) {
    if (id < 0) throw RecordError(fmt::format("'{}': cannot read {}", file, what));
  }
  ~Id() { close_(id_); }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: stands for the identifier in HDF5 calls

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::string trimmed(const char* text, size_t bytes) {
  std::string value(text, bytes);
  return value.substr(0, value.find('\0'));
}

hid_t member_type(hid_t element, const std::string& column) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, H5Tget_size(element));
  if (type >= 0 && H5Tinsert(type, column.c_str(), 0, element) < 0) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

hid_t native_type(ColumnType type) {
  switch (type) {
    case ColumnType::kU8:
      return H5T_NATIVE_UINT8;
    case ColumnType::kU16:
      return H5T_NATIVE_UINT16;
    case ColumnType::kU32:
      return H5T_NATIVE_UINT32;
    case ColumnType::kU64:
      return H5T_NATIVE_UINT64;
    case ColumnType::kI64:
      return H5T_NATIVE_INT64;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

uint64_t row_count(hid_t dataset) {
  const hid_t space = H5Dget_space(dataset);
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  return points > 0 ? static_cast<uint64_t>(points) : 0;
}

/// Rows of a dataset whose data is in the file. What a foreign or damaged file declares beyond that would
/// only fill memory. Deflate shrinks by 1032 at most.
uint64_t stored_rows(hid_t dataset, hid_t file, const std::string& path, const std::string& what) {
  constexpr uint64_t kBestDeflate = 1032;
  const uint64_t rows = row_count(dataset);
  hsize_t file_bytes = 0;
  H5Fget_filesize(file, &file_bytes);
  const Id type(H5Dget_type(dataset), H5Tclose, path, what);
  const uint64_t stored = std::min<uint64_t>(H5Dget_storage_size(dataset), file_bytes);
  if (rows > stored * kBestDeflate / std::max<size_t>(H5Tget_size(type), 1))
    throw RecordError(fmt::format("'{}': {} has {} rows, more than the file can hold", path, what, rows));
  return rows;
}

/// H5Dread, with a conversion buffer of `rows` records at most. HDF5 clears its buffer at each read, and its
/// size of one megabyte is most of the time that small tables take, of which a file has hundreds.
bool read_rows(hid_t dataset, hid_t type, hid_t memory, hid_t space, uint64_t rows, void* out) {
  constexpr uint64_t kLargest = 1024ul * 1024;  // HDF5's own
  const hid_t stored = H5Dget_type(dataset);
  const uint64_t record = std::max<uint64_t>({H5Tget_size(stored), H5Tget_size(type), 1});
  H5Tclose(stored);
  const hid_t how = H5Pcreate(H5P_DATASET_XFER);
  if (how < 0) return false;
  const uint64_t most = std::max<uint64_t>(kLargest / record, 1);
  H5Pset_buffer(how, std::min(std::max<uint64_t>(rows, 1), most) * record, nullptr, nullptr);
  const herr_t status = H5Dread(dataset, type, memory, space, how, out);
  H5Pclose(how);
  return status >= 0;
}

template <typename T>
std::vector<T> read_column(hid_t file, const std::string& path, const std::string& dataset_name,
                           const std::string& column, hid_t element) {
  const std::string what = fmt::format("column '{}' of '{}'", column, dataset_name);
  const Id dataset(H5Dopen2(file, dataset_name.c_str(), H5P_DEFAULT), H5Dclose, path, what);
  const Id type(member_type(element, column), H5Tclose, path, what);
  const Id stored(H5Dget_type(dataset), H5Tclose, path, what);
  const int index = H5Tget_class(stored) == H5T_COMPOUND ? H5Tget_member_index(stored, column.c_str()) : -1;
  if (index < 0) throw RecordError(fmt::format("'{}': there is no {}", path, what));
  if (const H5T_class_t have = H5Tget_member_class(stored, static_cast<unsigned>(index));
      have != H5Tget_class(element) && have != H5T_INTEGER)
    throw RecordError(fmt::format("'{}': {} holds no numbers of the expected kind", path, what));
  std::vector<T> values(stored_rows(dataset, file, path, what));
  if (!values.empty() && !read_rows(dataset, type, H5S_ALL, H5S_ALL, values.size(), values.data())) {
    throw RecordError(fmt::format("'{}': cannot read {}", path, what));
  }
  return values;
}

}  // namespace

RecordedFile::RecordedFile(const std::string& path) : path_(path) {
  const std::scoped_lock lock(hdf5_mutex());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_ < 0) throw RecordError(fmt::format("'{}': cannot open it as an HDF5 file", path));
}

RecordedFile::~RecordedFile() {
  const std::scoped_lock lock(hdf5_mutex());
  H5Fclose(file_);
}

std::vector<std::string> RecordedFile::list(const std::string& group) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id id(H5Gopen2(file_, group.c_str(), H5P_DEFAULT), H5Gclose, path_, fmt::format("group '{}'", group));
  H5G_info_t info{};
  if (H5Gget_info(id, &info) < 0) throw RecordError(fmt::format("'{}': cannot list '{}'", path_, group));
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const ssize_t bytes =
        H5Lget_name_by_idx(id, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (bytes < 0) throw RecordError(fmt::format("'{}': cannot list '{}'", path_, group));
    std::string name(static_cast<size_t>(bytes) + 1, '\0');
    H5Lget_name_by_idx(id, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

bool RecordedFile::exists(const std::string& path) const {
  const std::scoped_lock lock(hdf5_mutex());
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    if (H5Lexists(file_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return path == "/" || H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0;
}

bool RecordedFile::has_attribute(const std::string& object, const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  return H5Aexists_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> RecordedFile::text_list_attribute(const std::string& object,
                                                           const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const std::string what = fmt::format("attribute '{}' of '{}'", name, object);
  const Id attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                     path_, what);
  const Id type(H5Aget_type(attribute), H5Tclose, path_, what);
  const Id space(H5Aget_space(attribute), H5Sclose, path_, what);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0)
    throw RecordError(fmt::format("'{}': {} is no text of fixed length", path_, what));
  const size_t bytes = H5Tget_size(type);
  const hssize_t points = H5Sget_simple_extent_npoints(space);
  if (points <= 0 || H5Aget_storage_size(attribute) != bytes * static_cast<size_t>(points))
    throw RecordError(fmt::format("'{}': {} is empty or damaged", path_, what));
  const auto count = static_cast<size_t>(points);
  std::string raw(bytes * count, '\0');
  if (H5Aread(attribute, type, raw.data()) < 0)
    throw RecordError(fmt::format("'{}': cannot read {}", path_, what));
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(trimmed(raw.data() + i * bytes, bytes));
  return texts;
}

std::string RecordedFile::text_attribute(const std::string& object, const std::string& name) const {
  return text_list_attribute(object, name).at(0);
}

uint64_t RecordedFile::number_attribute(const std::string& object, const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const std::string what = fmt::format("attribute '{}' of '{}'", name, object);
  const Id attribute(H5Aopen_by_name(file_, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                     path_, what);
  const Id type(H5Aget_type(attribute), H5Tclose, path_, what);
  const Id space(H5Aget_space(attribute), H5Sclose, path_, what);
  if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
    throw RecordError(fmt::format("'{}': {} is not one integer", path_, what));
  uint64_t value = 0;
  if (H5Aread(attribute, H5T_NATIVE_UINT64, &value) < 0)
    throw RecordError(fmt::format("'{}': cannot read {}", path_, what));
  return value;
}

std::string RecordedFile::text(const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  const Id type(H5Dget_type(dataset), H5Tclose, path_, name);
  if (stored_rows(dataset, file_, path_, name) != 1 || H5Tis_variable_str(type) != 0)
    throw RecordError(fmt::format("'{}': '{}' is not one text", path_, name));
  std::string value(H5Tget_size(type), '\0');
  if (H5Tget_class(type) != H5T_STRING || !read_rows(dataset, type, H5S_ALL, H5S_ALL, 1, value.data())) {
    throw RecordError(fmt::format("'{}': '{}' is no text", path_, name));
  }
  return trimmed(value.data(), value.size());
}

RecordedTable RecordedFile::table(const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  const Id stored(H5Dget_type(dataset), H5Tclose, path_, name);
  if (H5Tget_class(stored) != H5T_COMPOUND)
    throw RecordError(fmt::format("'{}': '{}' is no table", path_, name));
  // A record as it is read: numbers of eight bytes, and texts as they are.
  struct Member {
    std::string column;
    size_t offset, text_bytes;
  };
  std::vector<Member> members;
  size_t record = 0;
  const auto count = static_cast<unsigned>(std::max(0, H5Tget_nmembers(stored)));
  for (unsigned i = 0; i < count; ++i) {
    char* member = H5Tget_member_name(stored, i);
    const std::string column = member;
    H5free_memory(member);
    const Id element(H5Tget_member_type(stored, i), H5Tclose, path_, name);
    const bool is_text = H5Tget_class(element) == H5T_STRING;
    if (is_text ? H5Tis_variable_str(element) != 0 : H5Tget_class(element) != H5T_INTEGER)
      throw RecordError(fmt::format(
          "'{}': column '{}' of '{}' holds neither integers nor text of fixed length", path_, column, name));
    members.push_back({column, record, is_text ? H5Tget_size(element) : 0});
    record += is_text ? H5Tget_size(element) : sizeof(uint64_t);
  }
  RecordedTable table;
  table.rows = stored_rows(dataset, file_, path_, name);
  const Id type(H5Tcreate(H5T_COMPOUND, std::max<size_t>(record, 1)), H5Tclose, path_, name);
  for (unsigned i = 0; i < count; ++i) {
    const Id element(H5Tget_member_type(stored, i), H5Tclose, path_, name);
    H5Tinsert(type, members[i].column.c_str(), members[i].offset,
              members[i].text_bytes > 0 ? static_cast<hid_t>(element) : H5T_NATIVE_UINT64);
  }
  std::string raw(record * table.rows, '\0');
  if (!raw.empty() && !read_rows(dataset, type, H5S_ALL, H5S_ALL, table.rows, raw.data()))
    throw RecordError(fmt::format("'{}': cannot read '{}'", path_, name));
  for (const Member& m : members) {
    const auto cell = [&](uint64_t row) { return raw.data() + row * record + m.offset; };
    if (m.text_bytes > 0) {
      std::vector<std::string>& texts = table.texts[m.column];
      for (uint64_t row = 0; row < table.rows; ++row) texts.push_back(trimmed(cell(row), m.text_bytes));
    } else {
      std::vector<uint64_t>& numbers = table.numbers[m.column];
      numbers.resize(table.rows);
      for (uint64_t row = 0; row < table.rows; ++row) std::memcpy(&numbers[row], cell(row), sizeof(uint64_t));
    }
  }
  return table;
}

uint64_t RecordedFile::rows(const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  return row_count(dataset);
}

std::vector<std::string> RecordedFile::columns(const std::string& name) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  const Id type(H5Dget_type(dataset), H5Tclose, path_, name);
  std::vector<std::string> names;
  if (H5Tget_class(type) != H5T_COMPOUND)
    throw RecordError(fmt::format("'{}': '{}' is no table", path_, name));
  for (int i = 0; i < H5Tget_nmembers(type); ++i) {
    char* member = H5Tget_member_name(type, static_cast<unsigned>(i));
    names.emplace_back(member);
    H5free_memory(member);
  }
  return names;
}

bool RecordedFile::is_text(const std::string& name, const std::string& column) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  const Id type(H5Dget_type(dataset), H5Tclose, path_, name);
  const int index = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, column.c_str()) : -1;
  return index >= 0 && H5Tget_member_class(type, static_cast<unsigned>(index)) == H5T_STRING;
}

std::vector<uint64_t> RecordedFile::numbers(const std::string& dataset, const std::string& column) const {
  const std::scoped_lock lock(hdf5_mutex());
  return read_column<uint64_t>(file_, path_, dataset, column, H5T_NATIVE_UINT64);
}

std::vector<double> RecordedFile::reals(const std::string& dataset, const std::string& column) const {
  const std::scoped_lock lock(hdf5_mutex());
  return read_column<double>(file_, path_, dataset, column, H5T_NATIVE_DOUBLE);
}

std::vector<std::string> RecordedFile::texts(const std::string& name, const std::string& column) const {
  const std::scoped_lock lock(hdf5_mutex());
  const std::string what = fmt::format("column '{}' of '{}'", column, name);
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, what);
  const Id stored(H5Dget_type(dataset), H5Tclose, path_, what);
  const int index = H5Tget_class(stored) == H5T_COMPOUND ? H5Tget_member_index(stored, column.c_str()) : -1;
  if (index < 0 || H5Tget_member_class(stored, static_cast<unsigned>(index)) != H5T_STRING) {
    throw RecordError(fmt::format("'{}': there is no text {}", path_, what));
  }
  const Id element(H5Tget_member_type(stored, static_cast<unsigned>(index)), H5Tclose, path_, what);
  if (H5Tis_variable_str(element) != 0)
    throw RecordError(fmt::format("'{}': {} is no text of fixed length", path_, what));
  const Id type(member_type(element, column), H5Tclose, path_, what);
  const size_t bytes = H5Tget_size(element);
  const uint64_t count = stored_rows(dataset, file_, path_, what);
  std::string raw(bytes * count, '\0');
  if (count > 0 && !read_rows(dataset, type, H5S_ALL, H5S_ALL, count, raw.data())) {
    throw RecordError(fmt::format("'{}': cannot read {}", path_, what));
  }
  std::vector<std::string> values;
  for (uint64_t i = 0; i < count; ++i) values.push_back(trimmed(raw.data() + i * bytes, bytes));
  return values;
}

std::vector<std::byte> RecordedFile::records(const std::string& name, const TableSchema& schema,
                                             uint64_t first, uint64_t count) const {
  const std::scoped_lock lock(hdf5_mutex());
  const Id dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose, path_, name);
  const uint64_t total = stored_rows(dataset, file_, path_, name);
  first = std::min(first, total);
  count = std::min(count, total - first);
  const Id type(H5Tcreate(H5T_COMPOUND, schema.record_bytes), H5Tclose, path_, name);
  for (const Column& column : schema.columns)
    H5Tinsert(type, column.name.c_str(), column.offset, native_type(column.type));
  std::vector<std::byte> out(count * schema.record_bytes);
  if (count == 0) return out;
  const Id space(H5Dget_space(dataset), H5Sclose, path_, name);
  const hsize_t start = first, length = count;
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &length, nullptr);
  const Id memory(H5Screate_simple(1, &length, nullptr), H5Sclose, path_, name);
  if (!read_rows(dataset, type, memory, space, count, out.data())) {
    throw RecordError(fmt::format("'{}': cannot read '{}'", path_, name));
  }
  return out;
}

}  // namespace gpusim::core
