#include "study/study_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "simcore/text/text_file.h"
#include "simcore/text/units.h"
#include "study/cluster.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

std::string file_in(const std::string& folder, const char* name) {
  return (fs::path(folder) / name).string();
}

Rows read_csv(const std::string& path) {
  Rows rows = csv_cells(core::read_text_file(path, core::kAnySize), path);
  if (rows.empty()) core::raise_input_error({path, 0, 0}, "is empty");
  for (const std::vector<std::string>& row : rows)
    if (row.size() != rows.front().size())
      core::raise_input_error({path, 0, 0}, "has rows of different lengths");
  return rows;
}

size_t column(const Rows& rows, std::string_view name, const std::string& path) {
  const auto at = std::ranges::find(rows.front(), name);
  if (at == rows.front().end())
    core::raise_input_error({path, 0, 0}, fmt::format("has no column '{}'", name));
  return static_cast<size_t>(at - rows.front().begin());
}

size_t point_of(const std::string& cell, size_t points, const std::string& path) {
  const bool digits =
      !cell.empty() && cell.size() < 10 && cell.find_first_not_of("0123456789") == std::string::npos;
  const size_t point = digits ? std::stoull(cell) : points;
  if (point >= points)
    core::raise_input_error({path, 0, 0}, fmt::format("'{}' is no point of the study beside it", cell));
  return point;
}

/// Results by the keys in results.csv: of the stored point, or what the table says of one that has none.
void read_results(StudyFolder& f, const std::string& folder, const std::string& store) {
  const std::string path = file_in(folder, "results.csv");
  const Rows rows = read_csv(path);
  const size_t point = column(rows, "point", path), key = column(rows, "key", path),
               reason = column(rows, "reason", path), status = column(rows, "status", path);
  f.results.resize(f.points.size());
  size_t gone = 0;
  for (size_t row = 1; row < rows.size(); ++row) {
    PointResult& r = f.results[point_of(rows[row][point], f.points.size(), path)];
    if (!r.key.empty() || !r.reason.empty()) continue;  // a further launch of the same point
    r.key = rows[row][key];
    r.reason = rows[row][reason];
    const std::string& word = rows[row][status];
    if (word == status_name(PointResult::Status::kRefused)) r.status = PointResult::Status::kRefused;
    if (word == status_name(PointResult::Status::kFailed)) r.status = PointResult::Status::kFailed;
    const bool good = word == status_name(PointResult::Status::kComplete) ||
                      word == status_name(PointResult::Status::kWrong);
    const fs::path file = fs::path(store) / (r.key + ".json");
    std::error_code error;
    if (good && fs::is_regular_file(file, error))
      r = read_result(core::read_text_file(file.string(), core::kAnySize), file.string());
    else if (good)
      ++gone;
  }
  if (gone > 0)
    core::raise_input_error({store, 0, 0}, fmt::format("lacks {} of the points that {} names", gone, path),
                            "the folder that the study was run with: --store FOLDER");
}

void read_predictions(StudyFolder& f, const std::string& folder) {
  const std::string path = file_in(folder, "predictions.csv");
  const Rows rows = read_csv(path);
  const std::string& objective = f.study.objective;
  const size_t point = column(rows, "point", path), simulated = column(rows, "simulated", path),
               value = column(rows, objective, path), low = column(rows, objective + "_low", path),
               high = column(rows, objective + "_high", path);
  const auto number = [](const std::string& cell) {
    return core::parse_real(cell).value_or(std::numeric_limits<double>::quiet_NaN());
  };
  Guided& g = f.guided.emplace();
  g.estimates.assign(f.points.size(), {std::nan(""), std::nan(""), std::nan(""), false, std::nan("")});
  for (size_t row = 1; row < rows.size(); ++row) {
    const std::vector<std::string>& cells = rows[row];
    Estimate& e = g.estimates[point_of(cells[point], f.points.size(), path)];
    e = {number(cells[value]), number(cells[low]), number(cells[high]), cells[simulated] == "yes",
         std::nan("")};
  }
}

}  // namespace

bool is_study_folder(const std::string& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && fs::is_regular_file(file_in(folder, "study.toml"), error) &&
         fs::is_regular_file(file_in(folder, "results.csv"), error);
}

std::vector<std::vector<std::string>> csv_cells(const std::string& text, const std::string& name) {
  Rows rows;
  for (size_t at = 0; at < text.size();) {
    std::vector<std::string>& row = rows.emplace_back();
    for (bool more = true; more;) {
      std::string& cell = row.emplace_back();
      if (at < text.size() && text[at] == '"') {
        for (++at;; ++at) {
          if (at >= text.size())
            core::raise_input_error({name, static_cast<uint32_t>(rows.size()), 0},
                                    "a quoted cell does not end");
          if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
          at += text[at] == '"' ? 1 : 0;
          cell += text[at];
        }
        ++at;
      }
      const size_t end = std::min(text.find_first_of(",\n", at), text.size());
      cell += text.substr(at, end - at);
      more = end < text.size() && text[end] == ',';
      at = end + 1;
    }
  }
  return rows;
}

StudyFolder read_study_folder(const std::string& folder, const std::string& store) {
  std::error_code error;
  if (!is_study_folder(folder) && fs::is_regular_file(file_in(folder, "study.toml"), error))
    core::raise_input_error(
        {folder, 0, 0}, "its study has not ended",
        fmt::format("gpusim study run {0} goes on with it, gpusim study show {0} says what the "
                    "simulated points show",
                    shell_word(folder)));
  if (!is_study_folder(folder))
    core::raise_input_error({folder, 0, 0}, "holds no results of a study",
                            "a folder that gpusim study run has written (--out)");
  StudyFolder f;
  f.study = load_study(file_in(folder, "study.toml"));
  f.study.name = fs::path(folder).lexically_normal().filename().string();
  if (f.study.name.empty())
    f.study.name = fs::path(folder).lexically_normal().parent_path().filename().string();
  f.points = points_of(f.study);
  read_results(f, folder, store.empty() ? file_in(folder, "points") : store);
  if (fs::is_regular_file(file_in(folder, "predictions.csv"), error)) read_predictions(f, folder);
  if (fs::is_regular_file(file_in(folder, "findings.txt"), error))
    f.findings = core::read_text_file(file_in(folder, "findings.txt"), core::kAnySize);
  return f;
}

}  // namespace gpusim::study
