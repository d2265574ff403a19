// The outcome of a suite as text, JSON and HDF5.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "analysis/report/text.h"
#include "regress/runner/verdict.h"
#include "simcore/record/hdf5_writer.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/whole_file.h"

namespace gpusim::regress {

namespace {

std::string first_line(const std::string& text) {
  return analysis::printable(text.substr(0, text.find('\n')));
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:+.1f} %", 100 * fraction) : "-";
}
std::string unsigned_percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", 100 * fraction) : "-";
}

std::string row_text(const Row& row) {
  if (row.kernel.empty())
    return fmt::format("{:<28} {:<16} {:<14} {:>12} {:>12} {:>9} {:>8} {:<7} {}\n", row.place, row.model,
                       row.quantity, "", "", "", "", verdict_name(row.verdict), first_line(row.note));
  return fmt::format(
      "{:<28} {:<16} {:<14} {:>12.5g} {:>12.5g} {:>9} {:>8} {:<7} {}\n", row.place, row.model, row.quantity,
      row.simulated, row.predicted, percent(row.error),
      row.role == Role::kShown ? "-" : unsigned_percent(row.limit),
      row.verdict == Verdict::kGood && row.role == Role::kFitted ? "fitted" : verdict_name(row.verdict),
      first_line(row.note));
}

std::string model_text(const ModelSummary& m) {
  std::string text = fmt::format("{:<16} {:<14} ", m.model, m.quantity);
  if (m.judged == 0)
    text += "nothing judged";
  else
    text += fmt::format("{} judged: mean {}, worst {} ({})", m.judged, unsigned_percent(m.mean),
                        unsigned_percent(m.worst), m.worst_place);
  if (m.constants != 0)
    text += fmt::format(", a constant's {}{}", unsigned_percent(m.constant_mean),
                        m.constant_fails ? ", which must exceed the limit" : "");
  else if (m.constant_fails)
    text += ", no row says what a constant would err by, which must exceed the limit";
  if (m.limit >= 0)
    text +=
        fmt::format(", limit of the mean {}: {}", unsigned_percent(m.limit), m.breach ? "BREACH" : "good");
  if (m.fitted != 0) text += fmt::format("; {} fitted: mean {}", m.fitted, unsigned_percent(m.fitted_mean));
  return text + "\n";
}

/// Throws if an HDF5 call failed.
hid_t checked(hid_t id, const std::string& path) {
  if (id < 0) core::raise_input_error({path, 0, 0}, "cannot be written");
  return id;
}

/// Records of fixed-length texts and numbers, built column by column.
struct Records {
  struct Column {
    std::string name;
    size_t offset, size;  ///< a text's room; 0: a double
  };
  std::vector<Column> columns;
  size_t bytes = 0;
  void add(const std::string& name, size_t room) {
    columns.push_back({name, bytes, room});
    bytes += room == 0 ? sizeof(double) : room;
  }
};

}  // namespace

std::string outcome_text(const Suite& suite, const Outcome& outcome) {
  std::string text = fmt::format("{:<28} {:<16} {:<14} {:>12} {:>12} {:>9} {:>8} {}\n", "case", "model",
                                 "quantity", "simulated", "predicted", "error", "limit", "verdict");
  for (const Row& row : outcome.rows) text += row_text(row);
  if (!outcome.models.empty()) text += "\n";
  for (const ModelSummary& m : outcome.models) text += model_text(m);
  text += claims_text(suite.given, outcome.claims);
  return text +
         fmt::format("\nsuite {}: {} cases, {} rows, {}\n", suite.name, suite.cases.size(),
                     outcome.rows.size(),
                     outcome.breaches == 0 ? "no breach" : fmt::format("{} BREACHES", outcome.breaches));
}

std::string outcome_json(const Suite& suite, const Outcome& outcome) {
  std::string rows, models;
  for (const Row& r : outcome.rows)
    rows += fmt::format(
        "{}{{\"case\": {}, \"kernel\": {}, \"model\": {}, \"quantity\": {}, \"unit\": {}, \"simulated\": {}, "
        "\"predicted\": {}, \"error\": {}, \"limit\": {}, \"role\": \"{}\", \"verdict\": \"{}\", \"note\": "
        "{}}}",
        rows.empty() ? "" : ",\n  ", core::json_quoted(r.place), core::json_quoted(r.kernel),
        core::json_quoted(r.model), core::json_quoted(r.quantity), core::json_quoted(r.unit),
        core::json_number(r.simulated), core::json_number(r.predicted), core::json_number(r.error),
        core::json_number(r.limit), role_name(r.role), verdict_name(r.verdict), core::json_quoted(r.note));
  for (const ModelSummary& m : outcome.models)
    models += fmt::format(
        "{}{{\"model\": {}, \"quantity\": {}, \"judged\": {}, \"mean\": {}, \"worst\": {}, \"worst_case\": "
        "{}, "
        "\"fitted\": {}, \"fitted_mean\": {}, \"constant_mean\": {}, \"limit\": {}, \"breach\": {}}}",
        models.empty() ? "" : ",\n  ", core::json_quoted(m.model), core::json_quoted(m.quantity), m.judged,
        core::json_number(m.mean), core::json_number(m.worst), core::json_quoted(m.worst_place), m.fitted,
        core::json_number(m.fitted_mean),
        m.constants == 0 ? std::string("null") : core::json_number(m.constant_mean),
        m.limit < 0 ? std::string("null") : core::json_number(m.limit), m.breach);
  return fmt::format(
      "{{\"suite\": {}, \"breaches\": {},\n \"rows\": [{}],\n \"models\": [{}],\n \"claims\": [{}]}}\n",
      core::json_quoted(suite.name), outcome.breaches, rows, models, claims_json(outcome.claims));
}

void write_outcome_hdf5(const std::string& path, const Suite& suite, const Outcome& outcome) {
  const std::lock_guard lock(core::hdf5_mutex());
  constexpr size_t kName = 104, kNote = 200;
  Records layout;
  for (const char* name : {"case", "kernel", "model", "quantity", "unit", "role", "verdict"})
    layout.add(name, kName);
  layout.add("note", kNote);
  for (const char* name : {"simulated", "predicted", "error", "limit"}) layout.add(name, 0);
  std::vector<char> bytes(std::max<size_t>(1, outcome.rows.size()) * layout.bytes, 0);
  for (size_t i = 0; i < outcome.rows.size(); ++i) {
    const Row& r = outcome.rows[i];
    const std::string texts[] = {r.place,
                                 r.kernel,
                                 r.model,
                                 r.quantity,
                                 r.unit,
                                 std::string(role_name(r.role)),
                                 std::string(verdict_name(r.verdict)),
                                 first_line(r.note)};
    const double numbers[] = {r.simulated, r.predicted, r.error, r.limit};
    for (size_t c = 0; c < layout.columns.size(); ++c) {
      char* at = &bytes[i * layout.bytes + layout.columns[c].offset];
      if (layout.columns[c].size == 0)
        std::memcpy(at, &numbers[c - std::size(texts)], sizeof(double));
      else
        texts[c].copy(at, layout.columns[c].size - 1);
    }
  }
  core::NewFile whole(path);
  const hid_t file =
      checked(H5Fcreate(whole.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
  const hid_t type = checked(H5Tcreate(H5T_COMPOUND, layout.bytes), path);
  for (const Records::Column& c : layout.columns) {
    if (c.size == 0) {
      H5Tinsert(type, c.name.c_str(), c.offset, H5T_NATIVE_DOUBLE);
      continue;
    }
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, c.size);
    H5Tinsert(type, c.name.c_str(), c.offset, text);
    H5Tclose(text);
  }
  const hsize_t rows = outcome.rows.size();
  const hid_t space = checked(H5Screate_simple(1, &rows, nullptr), path);
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plist, false);
  const hid_t set = checked(H5Dcreate2(file, "rows", type, space, H5P_DEFAULT, plist, H5P_DEFAULT), path);
  const herr_t written = rows == 0 ? 0 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, suite.name.size() + 1);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, "suite", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, text, suite.name.c_str());
  H5Aclose(attribute), H5Sclose(scalar), H5Tclose(text), H5Dclose(set), H5Pclose(plist), H5Sclose(space),
      H5Tclose(type);
  if (H5Fclose(file) < 0 || written < 0) core::raise_input_error({path, 0, 0}, "cannot be written");
  whole.commit();
}

}  // namespace gpusim::regress
