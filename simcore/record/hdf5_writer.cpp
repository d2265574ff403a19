#include "simcore/record/hdf5_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "simcore/record/earlier_run.h"
#include "simcore/text/sha256.h"

namespace gpusim::core {
namespace {

constexpr size_t kReasonRoom = 512;
constexpr size_t kLongestAttribute = 32ul * 1024;  // HDF5 limits an attribute to 64 KiB
constexpr hsize_t kContiguousBytes = 4096;         // smaller tables are stored without chunks

/// An identifier that is closed at the end of its scope.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: stands for the identifier in HDF5 calls

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

hid_t string_type(size_t bytes) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  H5Tset_strpad(type, H5T_STR_NULLTERM);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

hid_t number_type(ColumnType type) {
  switch (type) {
    case ColumnType::kU8:
      return H5T_STD_U8LE;
    case ColumnType::kU16:
      return H5T_STD_U16LE;
    case ColumnType::kU32:
      return H5T_STD_U32LE;
    case ColumnType::kU64:
      return H5T_STD_U64LE;
    case ColumnType::kI64:
      return H5T_STD_I64LE;
    case ColumnType::kF64:
      return H5T_IEEE_F64LE;
    case ColumnType::kString:
      break;
  }
  return -1;
}

/// Bytes of the longest text and its terminating NUL.
size_t longest(const std::vector<std::string>& texts) {
  size_t bytes = 1;
  for (const std::string& text : texts) bytes = std::max(bytes, text.size() + 1);
  return bytes;
}

}  // namespace

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  [[maybe_unused]] static const int told = pthread_atfork(
      [] { hdf5_mutex().lock(); }, [] { hdf5_mutex().unlock(); }, [] { hdf5_mutex().unlock(); });
  return mutex;
}

PackedChunk pack_chunk(const std::byte* records, size_t rows, uint32_t record_bytes) {
  const size_t total = rows * record_bytes;
  std::vector<unsigned char> shuffled(total);
  const auto* in = reinterpret_cast<const unsigned char*>(records);
  constexpr size_t kBlock = 256;  // rows that stay in the L1
  for (size_t first = 0; first < rows; first += kBlock) {
    const size_t last = std::min(rows, first + kBlock);
    for (uint32_t byte = 0; byte < record_bytes; ++byte) {
      unsigned char* out = shuffled.data() + size_t{byte} * rows;
      for (size_t row = first; row < last; ++row) out[row] = in[row * record_bytes + byte];
    }
  }
  PackedChunk chunk;
  uLongf size = compressBound(static_cast<uLong>(total));
  chunk.bytes.resize(size);
  const int code = compress2(chunk.bytes.data(), &size, shuffled.data(), static_cast<uLong>(total), 1);
  if (code == Z_OK && size < total) {
    chunk.bytes.resize(size);
  } else {
    chunk.bytes = std::move(shuffled);
    chunk.filter_mask = 2;  // filter 1, deflate, was skipped
  }
  return chunk;
}

void Hdf5Writer::fail(const std::string& what) const {
  throw RecordError(fmt::format("cannot write '{}': {}", path_,
                                state_.error.empty() ? "HDF5 failed to " + what : state_.error));
}

hid_t Hdf5Writer::checked(hid_t id, const char* what) const {
  if (id < 0) fail(what);
  return id;
}

Hdf5Writer::Hdf5Writer(const std::string& path, const RunAttributes& attributes) : path_(path), claim_(path) {
  // Looked at once nobody else can change it.
  const bool keeps = claim_.hold() && worth_keeping(path);
  const std::scoped_lock lock(hdf5_mutex());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by exceptions, not printed
  const Handle access(ordered_file_access(state_), H5Pclose);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  // Links as messages of the group's object header: adding one changes one object, not a heap and a tree.
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED);
  H5Pset_istore_k(creation, 15);  // a chunk B-tree node is 1 KiB: four to a page
  file_ = H5Fcreate(claim_.temporary().c_str(), H5F_ACC_TRUNC, creation, access);
  if (file_ < 0) fail("create it");
  try {
    write_root(attributes);
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || !ordered_file_commit(state_)) fail("flush");
    const Handle check(H5Fopen(claim_.temporary().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (check < 0) fail("open the new file");
    if (!keeps) claim_.publish();
  } catch (const RecordError&) {
    state_.dead = true;
    H5Fclose(file_);
    throw;
  }
}

Hdf5Writer::~Hdf5Writer() {
  if (file_ < 0) return;
  const std::scoped_lock lock(hdf5_mutex());
  state_.dead = true;  // only reached after an error: what is committed stays as it is
  H5Fclose(file_);     // closes everything within
}

void Hdf5Writer::text_attribute(hid_t object, const std::string& name, std::string_view text, size_t room) {
  std::string value(text.substr(0, kLongestAttribute));
  value.resize(room != 0 ? room - 1 : value.size());
  value += '\0';
  const Handle type(string_type(value.size()), H5Tclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  if (H5Aexists(object, name.c_str()) > 0 && room == 0) H5Adelete(object, name.c_str());
  const bool exists = H5Aexists(object, name.c_str()) > 0;
  const Handle attribute(exists ? H5Aopen(object, name.c_str(), H5P_DEFAULT)
                                : H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (attribute < 0 || H5Awrite(attribute, type, value.data()) < 0) fail("write attribute " + name);
}

void Hdf5Writer::text_list_attribute(hid_t object, const std::string& name,
                                     const std::vector<std::string>& texts) {
  const size_t bytes = longest(texts);
  std::string value;
  for (std::string text : texts) {
    text.resize(bytes);
    value += text;
  }
  const hsize_t count = texts.size();
  const Handle type(string_type(bytes), H5Tclose);
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (attribute < 0 || H5Awrite(attribute, type, value.data()) < 0) fail("write attribute " + name);
}

void Hdf5Writer::number_attribute(hid_t object, const std::string& name, uint64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const bool exists = H5Aexists(object, name.c_str()) > 0;
  const Handle attribute(
      exists ? H5Aopen(object, name.c_str(), H5P_DEFAULT)
             : H5Acreate2(object, name.c_str(), H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (attribute < 0 || H5Awrite(attribute, H5T_NATIVE_UINT64, &value) < 0) fail("write attribute " + name);
}

hid_t Hdf5Writer::make_group(hid_t parent, const std::string& name, size_t expected_links) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED);
  H5Pset_link_phase_change(creation, 65535, 65534);
  H5Pset_est_link_info(creation, static_cast<unsigned>(expected_links), 16);
  return checked(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), "create a group");
}

void Hdf5Writer::make_groups_of(hid_t parent, const std::string& path) {
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (H5Lexists(parent, group.c_str(), H5P_DEFAULT) <= 0)
      const Handle made(make_group(parent, group, 16), H5Gclose);
  }
}

void Hdf5Writer::text_dataset(const std::string& path, const std::string& text) {
  const Handle type(string_type(text.size() + 1), H5Tclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const Handle dataset(H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose);
  if (dataset < 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) < 0)
    fail("write " + path);
}

void Hdf5Writer::write_root(const RunAttributes& attributes) {
  text_attribute(file_, "program", "gpusim");
  text_attribute(file_, "program_version", attributes.program_version);
  number_attribute(file_, "schema_version", kSchemaVersion);
  text_attribute(file_, "command_line", attributes.command_line);
  number_attribute(file_, "seed", attributes.seed);
  text_attribute(file_, "config_sha256", sha256_hex(attributes.config_text));
  text_attribute(file_, "ptx_sha256", sha256_hex(attributes.ptx_text));
  text_attribute(file_, "launch_sha256", sha256_hex(attributes.launch_text));
  text_attribute(file_, "status", "partial", 16);
  text_attribute(file_, "reason", "the run did not end, or its end was not written", kReasonRoom);
  // Texts are datasets: an attribute holds at most 64 KiB.
  const Handle inputs(make_group(file_, "inputs", 4), H5Gclose);
  text_dataset("/inputs/config", attributes.config_text);
  text_dataset("/inputs/ptx", attributes.ptx_text);
  text_dataset("/inputs/launch", attributes.launch_text);
  kernels_ = make_group(file_, "kernels", 64);
}

void Hdf5Writer::kernel_attributes(hid_t group, std::span<const KernelAttribute> attributes) {
  for (const KernelAttribute& attribute : attributes) {
    if (attribute.is_text) {
      text_attribute(group, attribute.name, attribute.text);
    } else {
      number_attribute(group, attribute.name, attribute.number);
    }
  }
}

void Hdf5Writer::begin_kernel(uint64_t kernel, std::span<const KernelAttribute> attributes) {
  const std::scoped_lock lock(hdf5_mutex());
  const hid_t group = make_group(kernels_, std::to_string(kernel), 32);
  open_[kernel] = group;
  kernel_attributes(group, attributes);
  const Handle events(make_group(group, "events", 16), H5Gclose);
}

void Hdf5Writer::end_kernel(uint64_t kernel, std::span<const KernelAttribute> attributes) {
  const std::scoped_lock lock(hdf5_mutex());
  const auto group = open_.find(kernel);
  kernel_attributes(group->second, attributes);
  std::erase_if(tables_, [kernel](const auto& entry) {
    const Table& table = entry.second;
    if (table.kernel != kernel) return false;
    if (table.dataset >= 0) H5Dclose(table.dataset);
    return true;
  });
  H5Gclose(group->second);
  open_.erase(group);
}

void Hdf5Writer::declare_table(uint64_t kernel, size_t id, const TableSchema& schema) {
  tables_[id] = {kernel, schema, -1, 0};
}

hid_t Hdf5Writer::record_type(const TableSchema& schema) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, schema.record_bytes);
  for (const Column& column : schema.columns)
    H5Tinsert(type, column.name.c_str(), column.offset, number_type(column.type));
  return type;
}

void Hdf5Writer::describe(hid_t dataset, const TableSchema& schema) {
  std::vector<std::string> names, units, meanings;
  for (const Column& column : schema.columns) {
    names.push_back(column.name);
    units.push_back(column.unit.empty() ? "1" : column.unit);
    meanings.push_back(column.meaning);
  }
  text_attribute(dataset, "meaning", schema.meaning);
  text_list_attribute(dataset, "column_names", names);
  text_list_attribute(dataset, "column_units", units);
  text_list_attribute(dataset, "column_meanings", meanings);
}

/// A growing dataset has chunks of the table's full size; others are made in their final size.
hid_t Hdf5Writer::make_dataset(hid_t group, const TableSchema& schema, hid_t type, hsize_t rows,
                               bool growing) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const size_t record_bytes = H5Tget_size(type);
  if (growing || rows * record_bytes > kContiguousBytes) {
    const hsize_t chunk = growing ? chunk_rows(schema.record_bytes) : rows;
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 1);
  }
  const hsize_t unlimited = H5S_UNLIMITED;
  const Handle space(H5Screate_simple(1, &rows, growing ? &unlimited : nullptr), H5Sclose);
  const hid_t dataset =
      checked(H5Dcreate2(group, schema.path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
              "create a dataset");
  describe(dataset, schema);
  return dataset;
}

void Hdf5Writer::append_chunk(size_t id, const PackedChunk& chunk) {
  const std::scoped_lock lock(hdf5_mutex());
  Table& table = tables_.at(id);
  if (table.dataset < 0) {
    const Handle type(record_type(table.schema), H5Tclose);
    table.dataset = make_dataset(group_of(table.kernel), table.schema, type, 0, true);
  }
  const hsize_t offset = table.rows;
  table.rows += chunk_rows(table.schema.record_bytes);
  if (H5Dset_extent(table.dataset, &table.rows) < 0 ||
      H5Dwrite_chunk(table.dataset, H5P_DEFAULT, chunk.filter_mask, &offset, chunk.bytes.size(),
                     chunk.bytes.data()) < 0) {
    fail("append to " + table.schema.path);
  }
}

void Hdf5Writer::finish_table(size_t id, std::span<const std::byte> records) {
  const std::scoped_lock lock(hdf5_mutex());
  Table& table = tables_.at(id);
  const hsize_t rows = records.size() / table.schema.record_bytes;
  if (table.dataset < 0) {
    // Closed at once: HDF5 keeps such data until then or a commit, and where it lies in the file would depend
    // on when that comes.
    const Handle type(record_type(table.schema), H5Tclose);
    const Handle dataset(make_dataset(group_of(table.kernel), table.schema, type, rows, false), H5Dclose);
    if (rows > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records.data()) < 0)
      fail("write " + table.schema.path);
    return;
  }
  if (rows == 0) return;
  // The last chunk is padded with zeros beyond the table's end.
  std::vector<std::byte> padded(chunk_rows(table.schema.record_bytes) * table.schema.record_bytes);
  std::memcpy(padded.data(), records.data(), records.size());
  const PackedChunk chunk =
      pack_chunk(padded.data(), chunk_rows(table.schema.record_bytes), table.schema.record_bytes);
  const hsize_t offset = table.rows;
  table.rows += rows;
  if (H5Dset_extent(table.dataset, &table.rows) < 0 ||
      H5Dwrite_chunk(table.dataset, H5P_DEFAULT, chunk.filter_mask, &offset, chunk.bytes.size(),
                     chunk.bytes.data()) < 0) {
    fail("append to " + table.schema.path);
  }
}

void Hdf5Writer::write_table(uint64_t kernel, const TableSchema& schema, std::span<const std::byte> records,
                             uint64_t rows, std::span<const std::vector<std::string>> texts) {
  const std::scoped_lock lock(hdf5_mutex());
  // Numbers first, then the texts, padded to the longest of their column.
  size_t record_bytes = schema.record_bytes;
  std::vector<size_t> widths;
  for (const auto& column : texts) {
    widths.push_back(longest(column));
    record_bytes += widths.back();
  }
  const Handle type(H5Tcreate(H5T_COMPOUND, std::max<size_t>(record_bytes, 1)), H5Tclose);
  std::vector<std::byte> packed(rows * record_bytes);
  for (uint64_t row = 0; row < rows && schema.record_bytes > 0; ++row) {
    std::memcpy(packed.data() + row * record_bytes, records.data() + row * schema.record_bytes,
                schema.record_bytes);
  }
  size_t offset = schema.record_bytes;
  size_t text = 0;
  for (const Column& column : schema.columns) {
    if (column.type != ColumnType::kString) {
      H5Tinsert(type, column.name.c_str(), column.offset, number_type(column.type));
      continue;
    }
    const Handle member(string_type(widths[text]), H5Tclose);
    H5Tinsert(type, column.name.c_str(), offset, member);
    for (uint64_t row = 0; row < rows; ++row) {
      const std::string& value = texts[text][row];
      std::memcpy(packed.data() + row * record_bytes + offset, value.data(), value.size());
    }
    offset += widths[text++];
  }
  make_groups_of(group_of(kernel), schema.path);
  const Handle dataset(make_dataset(group_of(kernel), schema, type, rows, false), H5Dclose);
  if (rows > 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.data()) < 0)
    fail("write " + schema.path);
}

void Hdf5Writer::commit() {
  const std::scoped_lock lock(hdf5_mutex());
  if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || !ordered_file_commit(state_)) fail("flush");
}

bool Hdf5Writer::close(std::string_view status, std::string_view reason) {
  commit();  // all data first: the final status must not stand before it
  const std::scoped_lock lock(hdf5_mutex());
  text_attribute(file_, "status", status, 16);
  text_attribute(file_, "reason", reason, kReasonRoom);
  for (auto& [id, table] : tables_) {
    if (table.dataset >= 0) H5Dclose(table.dataset);
  }
  for (const auto& [kernel, group] : open_) H5Gclose(group);
  H5Gclose(kernels_);
  const herr_t closed = H5Fclose(std::exchange(file_, -1));
  if (closed < 0 || !state_.error.empty()) fail("close");
  if (!claim_.published() && status != "partial") claim_.publish();
  return claim_.published();
}

}  // namespace gpusim::core
