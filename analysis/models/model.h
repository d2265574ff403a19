// What the analytical models have in common: each reads recorded runs and says, kernel by kernel, what it
// predicts beside what the simulator measured, and where the difference comes from. `gpusim analyze` prints
// it, `gpusim regress` judges it.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/recording/recording.h"

namespace gpusim::analysis {

/// A part of a prediction: a segment, a kind of miss, an energy term.
struct PredictionTerm {
  std::string name;
  double predicted = 0;
  double simulated = 0;  ///< not a number if the simulator has no such part
};

/// One quantity of one kernel.
struct Prediction {
  uint64_t launch = 0;  ///< launch order in its file
  std::string kernel;
  std::string quantity;  ///< "cycles", "miss rate"
  std::string unit;      ///< empty: a plain number
  double predicted = 0;
  double simulated = 0;
  bool points = false;  ///< a fraction, whose error is a difference; else the error is relative
  std::vector<PredictionTerm> terms;
  /// What one would say who takes the run that predicts as it is: not a number where that says nothing.
  double constant = std::numeric_limits<double>::quiet_NaN();

  /// Signed: (predicted - simulated) / simulated, or predicted - simulated if `points`.
  [[nodiscard]] double error() const { return error_of(predicted); }
  /// The same of another value.
  [[nodiscard]] double error_of(double value) const;
};

/// What a model's own definitions say of its numbers, checked on those that it gave.
struct Invariants {
  size_t held = 0;                  ///< numbers that are as they must be
  std::vector<std::string> broken;  ///< for each other one, what is wrong: a mistake of the model
};

struct ModelReport {
  std::vector<Prediction> predictions;
  Invariants invariants;
  std::string text;  ///< for people, whole lines
  std::string json;  ///< one object: what the text says beyond the predictions; empty if nothing
};

struct ModelOptions {
  std::string kernel;  ///< as Recording::select takes it
  /// Of one model, by name ("variant"); each model refuses names that it does not know.
  std::map<std::string, std::string, std::less<>> values;
};

struct Model {
  std::string_view name;         ///< "latency-hidden"
  std::string_view description;  ///< one line
  bool needs_several;            ///< a study of several runs, of which one alone says nothing
  std::string_view invariant;    ///< what holds of all its numbers, whatever was run; empty: nothing checked
  /// Throws core::RecordError if the recordings lack what the model reads, core::InputError for an option.
  ModelReport (*run)(std::span<const Recording> recordings, const ModelOptions& options);
  int place = 100;  ///< among the models, lowest first
};

/// In the order in which `gpusim analyze` prints them. A model is a folder here with an entry.cpp that
/// defines `Model FOLDER_entry()`; the build finds it.
[[nodiscard]] std::span<const Model> models();

/// Throws core::InputError with the nearest valid name.
[[nodiscard]] const Model& find_model(std::string_view name);

/// Throws core::InputError if `options` has a value that is not named in `known`.
void require_known_options(const ModelOptions& options, std::string_view model,
                           std::span<const std::string_view> known);

/// The option's text; empty if it is not given.
[[nodiscard]] std::string option_text(const ModelOptions& options, std::string_view name);
/// Whether the second of two words was chosen; the first is the default. Throws core::InputError for another.
[[nodiscard]] bool option_is_second(const ModelOptions& options, std::string_view name,
                                    const std::array<std::string_view, 2>& words);
/// `fallback` if it is not given. Throws core::InputError for what is no positive number.
[[nodiscard]] double option_positive(const ModelOptions& options, std::string_view name, double fallback,
                                     bool or_zero = false);

/// The predictions of a report as the elements of a JSON list.
[[nodiscard]] std::string predictions_json(std::span<const Prediction> predictions);

}  // namespace gpusim::analysis
