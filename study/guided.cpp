#include "study/guided.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "simcore/process/child_process.h"
#include "simcore/text/json_document.h"
#include "simcore/text/json_text.h"
#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"
#include "study/gaussian_process.h"
#include "study/predict_time.h"
#include "study/result_tables.h"
#include "study/spread_sample.h"

namespace gpusim::study {

namespace {

namespace fs = std::filesystem;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kLeastSimulations = 3;  ///< of a group
/// Of the simulations of a group, this share comes first. All but one of them are drawn at random and tell
/// how far predictions are off anywhere: those that are chosen for being good lie close together, where
/// predicting is easy.
constexpr double kFirst = 0.65;
constexpr size_t kRounds = 6;  ///< a round of later simulations is at most this part of all

/// What the analytical model says of a point.
struct Prediction {
  double seconds = kUnknown;
  std::string reason;  ///< why it says nothing
};

fs::path prediction_file(const RunOptions& options, const std::string& key) {
  return fs::path(options.store) / (key + ".predicted.json");
}

std::string prediction_json(const Prediction& p) {
  return fmt::format("{{\"schema\": \"gpusim-study-prediction-1\", \"seconds\": {}, \"reason\": {}}}\n",
                     core::json_number(p.seconds), core::json_quoted(p.reason));
}

/// Nothing if the text is no prediction.
bool read_prediction(const std::string& text, Prediction& p) try {
  const core::JsonValue root = core::parse_json(text, "prediction");
  const core::JsonValue* seconds = root.find("seconds");
  const core::JsonValue* reason = root.find("reason");
  if (seconds == nullptr || reason == nullptr || reason->kind != core::JsonValue::Kind::kString) return false;
  p.reason = reason->text;
  p.seconds = seconds->kind == core::JsonValue::Kind::kNumber ? seconds->number.as_double() : kUnknown;
  return std::isfinite(p.seconds) || !p.reason.empty();
} catch (const core::InputError&) {
  return false;
}

/// Of all points; those that the machine or the launch file refuses have the reason, and are told as refused.
std::vector<Prediction> predict_all(const Study& study, std::span<const Point> points,
                                    const RunOptions& options, std::vector<char>& refused,
                                    const OnPredicted& on_predicted) {
  std::vector<Prediction> predictions(points.size());
  std::vector<std::function<std::string()>> works;
  std::vector<std::string> keys(points.size());
  std::map<std::string, std::vector<size_t>> places;  ///< of equal points
  std::vector<std::string> open;
  for (size_t i = 0; i < points.size(); ++i) {
    try {
      keys[i] = prepare(study, points[i], options.config_folders, options.program).identity.key;
    } catch (const core::InputError& e) {
      refused[i] = 1;
      predictions[i].reason = core::first_line(e.what());
      continue;
    }
    auto& same = places[keys[i]];
    same.push_back(i);
    if (same.size() > 1) continue;
    std::error_code error;
    const fs::path file = prediction_file(options, keys[i]);
    Prediction stored;
    if (fs::is_regular_file(file, error) &&
        read_prediction(core::read_text_file(file.string(), core::kAnySize), stored)) {
      predictions[i] = stored;
      continue;
    }
    open.push_back(keys[i]);
    works.emplace_back([&study, &options, &point = points[i]] {
      Prediction p;
      try {
        p.seconds = predicted_seconds(prepare(study, point, options.config_folders, options.program));
      } catch (const core::InputError& e) {
        p.reason = core::first_line(e.what());
      }
      return prediction_json(p);
    });
  }
  size_t done = 0;
  (void)core::run_in_children(works, options.parallel, [&](size_t work, const core::ChildAnswer& answer) {
    Prediction& p = predictions[places[open[work]].front()];
    if (!answer.good || !read_prediction(answer.text, p)) p.reason = core::first_line(answer.text);
    core::write_whole_file(prediction_file(options, open[work]).string(), prediction_json(p));
    if (on_predicted) on_predicted(++done, works.size());
  });
  for (const auto& [key, same] : places)
    for (const size_t i : same) predictions[i] = predictions[same.front()];
  return predictions;
}

/// From 0 to 1 along an axis whose values are numbers, by their logarithms if these exist.
std::vector<double> places_on(const Axis& axis, bool& ordered) {
  std::vector<double> places(axis.values.size());
  ordered = true;
  for (size_t i = 0; i < places.size(); ++i)
    ordered &= numeric_value(axis.values[i].texts.front(), places[i]);
  if (!ordered) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
    return places;
  }
  if (std::ranges::all_of(places, [](double v) { return v > 0; }))
    for (double& v : places) v = std::log(v);
  const auto [least, most] = std::ranges::minmax(places);
  for (double& v : places) v = most > least ? (v - least) / (most - least) : 0;
  return places;
}

/// The points of a group that can be simulated, and what is known of them.
class Explorer {
 public:
  Explorer(const Study& study, std::span<const Point> points, std::span<const Prediction> predictions,
           std::vector<size_t> members, size_t simulations, uint64_t seed)
      : study_(study),
        members_(std::move(members)),
        simulations_(std::min(simulations, members_.size())),
        seed_(seed) {
    taken_.assign(members_.size(), 0);
    is_drawn_.assign(members_.size(), 0);
    values_.assign(members_.size(), kUnknown);
    for (const size_t i : members_) has_model_ &= predictions[i].seconds > 0;
    for (const size_t i : members_)
      if (!(predictions[i].seconds > 0) && no_model_.empty()) no_model_ = predictions[i].reason;
    place(points, predictions);
  }

  [[nodiscard]] const std::string& no_model() const { return no_model_; }
  [[nodiscard]] const std::vector<size_t>& members() const { return members_; }
  /// Points to be simulated next, as numbers of the study; none if that is enough.
  [[nodiscard]] std::vector<size_t> next() {
    std::vector<size_t> rows;
    if (spent_ == 0)
      rows = first(static_cast<size_t>(std::ceil(kFirst * static_cast<double>(simulations_))));
    else if (spent_ < simulations_)
      rows = promising(std::min(std::max<size_t>(simulations_ / kRounds, 1), simulations_ - spent_));
    spent_ += rows.size();
    std::vector<size_t> chosen;
    for (const size_t row : rows) {
      taken_[row] = 1;
      chosen.push_back(members_[row]);
    }
    return chosen;
  }
  void learn(size_t point, double objective) {
    values_[static_cast<size_t>(std::ranges::find(members_, point) - members_.begin())] = objective;
  }
  /// Estimates of the members' objective, and what is to be said of the group.
  void conclude(std::span<Estimate> estimates, GuidedGroup& group) const;

 private:
  void place(std::span<const Point> points, std::span<const Prediction> predictions);
  [[nodiscard]] std::vector<size_t> first(size_t count);
  [[nodiscard]] std::vector<size_t> promising(size_t count) const;
  [[nodiscard]] double distance(size_t a, size_t b) const {
    double sum = 0;
    for (size_t d = 0; d < where_.dimensions; ++d)
      sum += where_.difference(d, a, b) * where_.difference(d, a, b);
    return sum;
  }
  /// Logarithms if all simulated values have one, and so that small is good.
  [[nodiscard]] bool logarithmic() const {
    return std::ranges::none_of(values_, [](double v) { return v <= 0; });
  }
  [[nodiscard]] double scale(double value) const { return logarithmic() ? std::log(value) : value; }
  [[nodiscard]] double unscale(double value) const { return logarithmic() ? std::exp(value) : value; }
  [[nodiscard]] std::vector<size_t> known_rows() const {
    std::vector<size_t> rows;
    for (size_t row = 0; row < values_.size(); ++row)
      if (std::isfinite(values_[row])) rows.push_back(row);
    return rows;
  }
  [[nodiscard]] std::vector<double> scaled_values(const std::vector<size_t>& rows) const {
    std::vector<double> values;
    for (const size_t row : rows) values.push_back(scale(values_[row]));
    return values;
  }

  const Study& study_;
  std::vector<size_t> members_;
  size_t simulations_, spent_ = 0;
  uint64_t seed_;
  std::vector<char> taken_, is_drawn_;
  std::vector<double> values_;  ///< of simulated members
  Coordinates where_;
  bool has_model_ = true;
  std::string no_model_;
};

void Explorer::place(std::span<const Point> points, std::span<const Prediction> predictions) {
  std::vector<std::vector<double>> columns;
  for (size_t a = 0; a < study_.axes.size(); ++a) {
    bool ordered = false;
    const std::vector<double> places = places_on(study_.axes[a], ordered);
    std::vector<double>& column = columns.emplace_back();
    for (const size_t i : members_) column.push_back(places[points[i].values[a]]);
    where_.ordered.push_back(ordered ? 1 : 0);
  }
  if (has_model_) {
    // Points of which the model says the same are near each other, whatever their axes.
    std::vector<double>& column = columns.emplace_back();
    for (const size_t i : members_) column.push_back(std::log(predictions[i].seconds));
    where_.slope = column;
    const auto [least, most] = std::ranges::minmax(column);
    for (double& v : column) v = most > least ? (v - least) / (most - least) : 0;
    where_.ordered.push_back(1);
  }
  if (columns.empty()) {  // no axes and no model: all points are the same
    columns.emplace_back(members_.size(), 0.0);
    where_.ordered.push_back(1);
  }
  where_.dimensions = columns.size();
  for (size_t row = 0; row < members_.size(); ++row)
    for (const std::vector<double>& column : columns) where_.values.push_back(column[row]);
}

/// The point that the model likes best, if there is one, and points that are drawn at random.
std::vector<size_t> Explorer::first(size_t count) {
  std::vector<size_t> rows, others;
  if (has_model_ && count > 0)
    rows.push_back(static_cast<size_t>(
        (study_.maximise ? std::ranges::max_element(where_.slope) : std::ranges::min_element(where_.slope)) -
        where_.slope.begin()));
  for (size_t row = 0; row < members_.size(); ++row)
    if (std::ranges::find(rows, row) == rows.end()) others.push_back(row);
  // Groups of one study draw differently.
  const std::array<uint64_t, 2> seeds = {seed_, members_.empty() ? 0 : members_.front()};
  const auto away = [this](size_t a, size_t b) { return distance(a, b); };
  for (const size_t row : spread_sample(others, count - rows.size(), away, seeds)) {
    is_drawn_[row] = 1;
    rows.push_back(row);
  }
  return rows;
}

/// How much better than `best` a normally distributed value is to be expected, if it is small that is good
/// (Jones, Schonlau and Welch, "Efficient Global Optimization of Expensive Black-Box Functions", 1998).
double expected_improvement(double best, double mean, double deviation) {
  const double z = (best - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI), below = std::erfc(-z / std::sqrt(2)) / 2;
  return (best - mean) * below + deviation * density;
}

/// The points that are expected to improve most on the best; the last ones of all are those that are
/// predicted to be best.
std::vector<size_t> Explorer::promising(size_t count) const {
  const std::vector<size_t> known = known_rows();
  std::vector<size_t> rows;
  std::vector<char> taken = taken_;
  if (known.empty()) {  // all have failed: any other
    for (size_t row = 0; row < taken.size() && rows.size() < count; ++row)
      if (!taken[row]) rows.push_back(row);
    return rows;
  }
  GaussianProcess process(where_, known, scaled_values(known));
  const double sign = study_.maximise ? -1 : 1;
  double best = HUGE_VAL;
  for (const size_t row : known) best = std::min(best, sign * scale(values_[row]));
  const bool last = spent_ + count == simulations_;
  while (rows.size() < count) {
    size_t chosen = taken.size();
    double merit = -HUGE_VAL;
    for (size_t row = 0; row < taken.size(); ++row) {
      if (taken[row]) continue;
      const double mean = sign * process.mean(row);
      const double now = last ? -mean : expected_improvement(best, mean, process.deviation(row));
      if (now > merit) merit = now, chosen = row;
    }
    if (chosen == taken.size()) break;
    taken[chosen] = 1;
    rows.push_back(chosen);
    process.believe(chosen);
  }
  return rows;
}

void Explorer::conclude(std::span<Estimate> estimates, GuidedGroup& group) const {
  const std::vector<size_t> known = known_rows();
  group.simulated = known.size();
  group.model_error = group.left_out_error = group.width = kUnknown;
  for (size_t row = 0; row < members_.size(); ++row)
    if (std::isfinite(values_[row]))
      estimates[members_[row]] = {values_[row], values_[row], values_[row], true, 0};
  if (known.empty()) return;
  const GaussianProcess process(where_, known, scaled_values(known));
  const std::vector<LeftOut> left_out = leave_out(where_, known, scaled_values(known));
  const auto count = static_cast<double>(known.size());
  const auto relative = [&](double error) { return logarithmic() ? std::abs(std::expm1(error)) : kUnknown; };
  group.left_out_error = 0;
  for (const LeftOut& l : left_out) group.left_out_error += relative(l.error) / count;
  if (has_model_ && logarithmic()) {
    double level = 0;
    for (const size_t row : known) level += (scale(values_[row]) - where_.slope[row]) / count;
    group.model_error = 0;
    for (const size_t row : known)
      group.model_error += relative(where_.slope[row] + level - scale(values_[row])) / count;
  }
  std::vector<LeftOut> drawn;
  for (size_t i = 0; i < left_out.size(); ++i)
    if (is_drawn_[known[i]]) drawn.push_back(left_out[i]);
  const ErrorBars bars(drawn);
  group.width = bars.width();
  for (size_t row = 0; row < members_.size(); ++row) {
    Estimate& e = estimates[members_[row]];
    if (e.simulated) continue;
    if (taken_[row]) continue;  // it failed
    const double mean = process.mean(row), bar = bars.half(process.deviation(row));
    e.value = unscale(mean);
    e.low = unscale(mean - bar);
    e.high = unscale(mean + bar);
  }
}

}  // namespace

Guided run_guided(const Study& study, std::span<const Point> points, size_t simulations, uint64_t seed,
                  const RunOptions& options, const OnPredicted& on_predicted) {
  const size_t groups = study.machines.size() * study.workloads.size();
  if (simulations / groups < kLeastSimulations)
    throw core::InputError(
        fmt::format("gpusim: error: --guided {}: expected at least {}, {} for each of {} "
                    "(workload and machine)",
                    simulations, kLeastSimulations * groups, kLeastSimulations, groups));
  if (simulations / groups > kMostGuidedSimulations)
    throw core::InputError(fmt::format("gpusim: error: --guided {}: at most {} for each workload and machine",
                                       simulations, kMostGuidedSimulations));
  if (points.size() / groups > kMostGuidedPoints)
    throw core::InputError(
        fmt::format("{}: error: --guided: has {} points, at most {} for each workload and machine",
                    study.path, points.size(), kMostGuidedPoints));
  std::error_code error;
  fs::create_directories(options.store, error);
  if (error || !fs::is_directory(options.store))
    core::raise_input_error({options.store, 0, 0}, "is no folder that can be used");

  Guided guided;
  guided.results.resize(points.size());
  guided.estimates.resize(points.size());
  std::vector<char> refused(points.size(), 0);
  const std::vector<Prediction> predictions = predict_all(study, points, options, refused, on_predicted);
  for (Estimate& e : guided.estimates) e.value = e.low = e.high = kUnknown;

  std::vector<Explorer> explorers;
  for (uint32_t machine = 0; machine < study.machines.size(); ++machine)
    for (uint32_t workload = 0; workload < study.workloads.size(); ++workload) {
      std::vector<size_t> members;
      for (size_t i = 0; i < points.size(); ++i)
        if (points[i].machine == machine && points[i].workload == workload && !refused[i])
          members.push_back(i);
      const size_t number = guided.groups.size();
      const size_t share = simulations / groups + (number < simulations % groups ? 1 : 0);
      guided.groups.push_back({machine, workload, members.size(), 0, {}, 0, 0, 0});
      explorers.emplace_back(study, points, predictions, std::move(members), share, seed);
      guided.groups.back().no_model = explorers.back().no_model();
    }
  // Refused points have their reason without being simulated.
  std::vector<size_t> batch;
  for (size_t i = 0; i < points.size(); ++i)
    if (refused[i]) batch.push_back(i);
  for (;;) {
    const std::vector<PointResult> results = run_points(study, points, batch, options);
    for (size_t k = 0; k < batch.size(); ++k) guided.results[batch[k]] = results[k];
    for (size_t k = 0; k < batch.size(); ++k)
      if (results[k].status == PointResult::Status::kComplete)
        for (Explorer& e : explorers)
          if (std::ranges::binary_search(e.members(), batch[k]))
            e.learn(batch[k], column_value(results[k], study.objective));
    batch.clear();
    for (Explorer& e : explorers)
      for (const size_t i : e.next()) batch.push_back(i);
    if (batch.empty()) break;
    guided.chosen.insert(guided.chosen.end(), batch.begin(), batch.end());
  }
  for (size_t g = 0; g < explorers.size(); ++g) explorers[g].conclude(guided.estimates, guided.groups[g]);
  for (size_t i = 0; i < points.size(); ++i) guided.estimates[i].model_s = predictions[i].seconds;
  std::ranges::sort(guided.chosen);
  return guided;
}

std::string predictions_csv(const Study& study, std::span<const Point> points, const Guided& guided) {
  std::string out = "point,machine,workload";
  for (const Axis& axis : study.axes) out += "," + axis.name;
  out += fmt::format(",simulated,{0},{0}_low,{0}_high,model_time_s\n", study.objective);
  const auto cell = [](double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; };
  for (size_t i = 0; i < points.size(); ++i) {
    const Estimate& e = guided.estimates[i];
    out += fmt::format("{},{},{}", i, machine_name(study, points[i].machine),
                       study.workloads[points[i].workload].name);
    for (size_t a = 0; a < study.axes.size(); ++a)
      out += "," + csv_text(study.axes[a].values[points[i].values[a]].label);
    out += fmt::format(",{},{},{},{},{}\n", e.simulated ? "yes" : "no", cell(e.value), cell(e.low),
                       cell(e.high), cell(e.model_s));
  }
  return out;
}

}  // namespace gpusim::study
