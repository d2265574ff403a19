#include "study/result_tables.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <variant>

#include "components/simulation/kernel_counters.h"
#include "simcore/record/hdf5_writer.h"
#include "simcore/text/json_text.h"
#include "simcore/text/names.h"
#include "simcore/text/sha256.h"
#include "simcore/text/whole_file.h"

namespace gpusim::study {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kImageStep = size_t{1} << 20;  ///< bytes by which a file in memory grows

struct Column {
  std::string name;
  std::variant<std::vector<std::string>, std::vector<double>, std::vector<uint64_t>> values;
};
struct Table {
  std::string name;
  size_t rows = 0;
  std::vector<Column> columns;
};

template <class T>
std::vector<T>& add_column(Table& table, const std::string& name) {
  table.columns.push_back({name, std::vector<T>(table.rows)});
  return std::get<std::vector<T>>(table.columns.back().values);
}

/// Names of all kernels' counters, in the order in which they first occur.
std::vector<std::string> counter_names(std::span<const PointResult> results) {
  std::vector<std::string> names;
  for (const PointResult& r : results)
    for (const KernelRow& k : r.kernels)
      for (const auto& [name, value] : k.counters)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

std::string reason_line(const std::string& reason) {
  std::string line = reason;
  std::ranges::replace(line, '\n', ' ');
  return line;
}

/// What identifies a point, in rows that `row_of` repeats for it.
void identity_columns(Table& t, const Study& study, std::span<const Point> points,
                      std::span<const PointResult> results, const std::vector<size_t>& point_of_row) {
  auto& number = add_column<uint64_t>(t, "point");
  for (size_t row = 0; row < t.rows; ++row) number[row] = point_of_row[row];
  const auto texts = [&](const std::string& name, const auto& text) {
    auto& column = add_column<std::string>(t, name);
    for (size_t row = 0; row < t.rows; ++row) column[row] = text(point_of_row[row]);
  };
  texts("machine", [&](size_t p) { return machine_name(study, points[p].machine); });
  texts("workload", [&](size_t p) { return study.workloads[points[p].workload].name; });
  for (size_t i = 0; i < study.axes.size(); ++i)
    texts(study.axes[i].name, [&](size_t p) { return study.axes[i].values[points[p].values[i]].label; });
  texts("status", [&](size_t p) { return std::string(status_name(results[p].status)); });
  texts("verified", [&](size_t p) { return results[p].verified; });
  texts("key", [&](size_t p) { return results[p].key; });
}

Table points_table(const Study& study, std::span<const Point> points, std::span<const PointResult> results) {
  Table t{"points", points.size(), {}};
  std::vector<size_t> rows(points.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  identity_columns(t, study, points, results, rows);
  std::vector<std::string> names = column_names({});
  if (std::ranges::find(names, study.objective) == names.end()) names.push_back(study.objective);
  for (const std::string& name : names) {
    auto& column = add_column<double>(t, name);
    for (size_t i = 0; i < points.size(); ++i) column[i] = column_value(results[i], name);
  }
  auto& reasons = add_column<std::string>(t, "reason");
  for (size_t i = 0; i < points.size(); ++i) reasons[i] = reason_line(results[i].reason);
  return t;
}

Table kernels_table(const Study& study, std::span<const Point> points, std::span<const PointResult> results,
                    bool failed_too) {
  Table t{"kernels", 0, {}};
  std::vector<size_t> point_of_row;
  std::vector<const KernelRow*> kernels;
  for (size_t p = 0; p < points.size(); ++p) {
    for (const KernelRow& k : results[p].kernels) {
      point_of_row.push_back(p);
      kernels.push_back(&k);
    }
    if (failed_too && results[p].kernels.empty()) {  // its reason has a row
      point_of_row.push_back(p);
      kernels.push_back(nullptr);
    }
  }
  t.rows = kernels.size();
  identity_columns(t, study, points, results, point_of_row);
  auto& launch = add_column<uint64_t>(t, "launch");
  for (size_t row = 1; row < t.rows; ++row)
    launch[row] = point_of_row[row] == point_of_row[row - 1] ? launch[row - 1] + 1 : 0;
  const auto texts = [&](const char* name, std::string KernelRow::*member) {
    auto& column = add_column<std::string>(t, name);
    for (size_t row = 0; row < t.rows; ++row)
      if (kernels[row] != nullptr) column[row] = kernels[row]->*member;
  };
  texts("kernel", &KernelRow::name);
  texts("grid", &KernelRow::grid);
  texts("block", &KernelRow::block);
  auto& seconds = add_column<double>(t, "time_s");
  for (size_t row = 0; row < t.rows; ++row)
    seconds[row] = kernels[row] == nullptr ? kNone : kernels[row]->time_s;
  auto& cycles = add_column<double>(t, "cycles");
  for (size_t row = 0; row < t.rows; ++row)
    cycles[row] = kernels[row] == nullptr ? kNone : static_cast<double>(kernels[row]->cycles);
  auto& sram = add_column<double>(t, "sram_kib");
  for (size_t row = 0; row < t.rows; ++row) sram[row] = results[point_of_row[row]].sram_kib;
  const std::vector<std::string> names = counter_names(results);
  const size_t first = t.columns.size();
  for (const std::string& name : names)
    if (name != "cycles") add_column<double>(t, name).assign(t.rows, kNone);
  for (size_t row = 0; row < t.rows; ++row) {
    if (kernels[row] == nullptr) continue;
    // Kernels of one machine have their counters in one order: the column is mostly the next one.
    size_t guess = first;
    for (const auto& [name, value] : kernels[row]->counters) {
      if (name == "cycles") continue;
      if (guess >= t.columns.size() || t.columns[guess].name != name)
        guess = static_cast<size_t>(std::ranges::find(t.columns.begin() + static_cast<ptrdiff_t>(first),
                                                      t.columns.end(), name, &Column::name) -
                                    t.columns.begin());
      std::get<std::vector<double>>(t.columns[guess].values)[row] = value;
      ++guess;
    }
  }
  if (failed_too) {
    auto& reasons = add_column<std::string>(t, "reason");
    for (size_t row = 0; row < t.rows; ++row) reasons[row] = reason_line(results[point_of_row[row]].reason);
  }
  return t;
}

std::string csv(const Table& t) {
  std::string out;
  for (size_t c = 0; c < t.columns.size(); ++c) out += (c == 0 ? "" : ",") + csv_text(t.columns[c].name);
  out += "\n";
  for (size_t row = 0; row < t.rows; ++row) {
    for (size_t c = 0; c < t.columns.size(); ++c) {
      if (c != 0) out += ",";
      if (const auto* texts = std::get_if<std::vector<std::string>>(&t.columns[c].values))
        out += csv_text((*texts)[row]);
      else if (const auto* whole = std::get_if<std::vector<uint64_t>>(&t.columns[c].values))
        out += std::to_string((*whole)[row]);
      else if (const double value = std::get<std::vector<double>>(t.columns[c].values)[row];
               std::isfinite(value))
        out += core::json_number(value);
    }
    out += "\n";
  }
  return out;
}

/// Closes what HDF5 opened.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t), const std::string& path) : id_(id), close_(close) {
    if (id < 0) core::raise_input_error({path, 0, 0}, "the HDF5 library cannot write it");
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

void check(herr_t result, const std::string& path) {
  if (result < 0) core::raise_input_error({path, 0, 0}, "the HDF5 library cannot write it");
}

/// A compound dataset; texts have the length of the column's longest.
void write_table(hid_t file, const Table& t, const std::string& path) {
  std::vector<size_t> sizes;
  size_t record = 0;
  for (const Column& c : t.columns) {
    size_t size = 8;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&c.values)) {
      size = 1;
      for (const std::string& text : *texts) size = std::max(size, text.size());
    }
    sizes.push_back(size);
    record += size;
  }
  const Handle type(H5Tcreate(H5T_COMPOUND, record), H5Tclose, path);
  std::vector<char> rows(std::max<size_t>(record * t.rows, 1));
  size_t offset = 0;
  for (size_t c = 0; c < t.columns.size(); ++c) {
    const Column& column = t.columns[c];
    char* at = rows.data() + offset;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values)) {
      const Handle text(H5Tcopy(H5T_C_S1), H5Tclose, path);
      check(H5Tset_size(text, sizes[c]), path);
      check(H5Tset_strpad(text, H5T_STR_NULLPAD), path);
      check(H5Tset_cset(text, H5T_CSET_UTF8), path);
      check(H5Tinsert(type, column.name.c_str(), offset, text), path);
      for (const std::string& value : *texts) {
        std::memcpy(at, value.data(), value.size());
        at += record;
      }
    } else if (const auto* whole = std::get_if<std::vector<uint64_t>>(&column.values)) {
      check(H5Tinsert(type, column.name.c_str(), offset, H5T_NATIVE_UINT64), path);
      for (const uint64_t value : *whole) {
        std::memcpy(at, &value, sizeof value);
        at += record;
      }
    } else {
      check(H5Tinsert(type, column.name.c_str(), offset, H5T_NATIVE_DOUBLE), path);
      for (const double value : std::get<std::vector<double>>(column.values)) {
        std::memcpy(at, &value, sizeof value);
        at += record;
      }
    }
    offset += sizes[c];
  }
  const hsize_t extent = t.rows;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose, path);
  const Handle create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path);
  check(H5Pset_obj_track_times(create, false), path);
  if (t.rows > 0) {
    const hsize_t chunk = std::min<hsize_t>(extent, core::chunk_rows(static_cast<uint32_t>(record)));
    check(H5Pset_chunk(create, 1, &chunk), path);
    check(H5Pset_shuffle(create), path);
    check(H5Pset_deflate(create, 6), path);
  }
  const Handle set(H5Dcreate2(file, t.name.c_str(), type, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose,
                   path);
  if (t.rows > 0) check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()), path);
}

void text_attribute(hid_t object, const char* name, const std::string& text, const std::string& path) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path);
  check(H5Tset_size(type, std::max<size_t>(text.size(), 1)), path);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), path);
  check(H5Tset_cset(type, H5T_CSET_UTF8), path);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, path);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path);
  check(H5Awrite(attribute, type, text.empty() ? "" : text.c_str()), path);
}

void text_dataset(hid_t file, const char* name, const std::string& text, const std::string& path) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, path);
  check(H5Tset_size(type, std::max<size_t>(text.size(), 1)), path);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), path);
  check(H5Tset_cset(type, H5T_CSET_UTF8), path);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose, path);
  const Handle create(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path);
  check(H5Pset_obj_track_times(create, false), path);
  const Handle set(H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT), H5Dclose, path);
  check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()), path);
}

}  // namespace

double column_value(const PointResult& r, std::string_view name) {
  using Status = PointResult::Status;
  if (name == "sram_kib") return r.sram_kib == 0 ? kNone : r.sram_kib;
  if (r.status != Status::kComplete && r.status != Status::kWrong) return kNone;
  if (name == "time_s") return r.time_s;
  if (name == "cycles") return static_cast<double>(r.cycles);
  if (name == "energy_j") return r.energy_j;
  if (name == "energy_delay") return r.energy_j * r.time_s;
  if (name == "warp_instructions") return static_cast<double>(r.warp_instructions);
  if (r.kernels.size() > 1 && !comp::adds_up(name)) return kNone;
  double sum = 0;
  bool found = false;
  for (const KernelRow& k : r.kernels)
    for (const auto& [counter, value] : k.counters)
      if (counter == name) {
        sum += value;
        found = true;
      }
  return found ? sum : kNone;
}

void check_objective(const Study& study, const Point& point, const PointResult& result) {
  if (result.status != PointResult::Status::kComplete) return;
  if (result.kernels.size() > 1 && !comp::adds_up(study.objective))
    core::raise_input_error(
        {study.path, 0, 0},
        fmt::format("objective '{}' is a rate, which has no sum over the {} kernels of {}", study.objective,
                    result.kernels.size(), point_text(study, point)),
        "an objective that adds up: time_s, energy_j, a count");
  if (study.machines.size() > 1 || std::isfinite(column_value(result, study.objective))) return;
  const std::vector<std::string> names = column_names({&result, 1});
  const std::vector<std::string_view> views(names.begin(), names.end());
  core::raise_input_error({study.path, 0, 0},
                          fmt::format("objective '{}' is no column of the results", study.objective),
                          core::name_hint(study.objective, views));
}

std::vector<std::string> column_names(std::span<const PointResult> results) {
  std::vector<std::string> names = {"time_s",       "cycles",   "energy_j",
                                    "energy_delay", "sram_kib", "warp_instructions"};
  for (std::string& name : counter_names(results)) names.push_back(std::move(name));
  return names;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string results_csv(const Study& study, std::span<const Point> points,
                        std::span<const PointResult> results) {
  return csv(kernels_table(study, points, results, true));
}

void write_results_hdf5(const std::string& path, const Study& study, std::span<const Point> points,
                        std::span<const PointResult> results) {
  std::string image;
  {
    const std::lock_guard lock(core::hdf5_mutex());
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are reported by exceptions, not printed
    // Made in memory: a file that the library cannot write to its end (a full disk) stays open in it, and the
    // library crashes at the end of the process.
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path);
    check(H5Pset_fapl_core(access, kImageStep, /*backing_store=*/0), path);
    const Handle h5(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, path);
    text_attribute(h5, "schema", "gpusim-study-1", path);
    text_dataset(h5, "study", study.text, path);
    text_attribute(h5, "study_sha256", core::sha256_hex(study.text), path);
    write_table(h5, points_table(study, points, results), path);
    write_table(h5, kernels_table(study, points, results, false), path);
    check(H5Fflush(h5, H5F_SCOPE_LOCAL), path);
    const ssize_t size = H5Fget_file_image(h5, nullptr, 0);
    check(size < 0 ? -1 : 0, path);
    image.resize(static_cast<size_t>(size));
    check(H5Fget_file_image(h5, image.data(), image.size()) == size ? 0 : -1, path);
  }
  core::write_whole_file(path, image);
}

}  // namespace gpusim::study
