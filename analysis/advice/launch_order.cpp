#include "analysis/advice/launch_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "analysis/advice/ptx_text.h"
#include "analysis/source/source_lines.h"
#include "simcore/launch/launch_numbers.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis::advice {
namespace {

using Chosen = std::function<bool(uint64_t)>;

/// Numbers of the parameters that say where these accesses go.
std::set<size_t> parameters_in(const Facts& f, const std::vector<std::string>& names, const Chosen& chosen) {
  std::set<size_t> found;
  for (uint64_t pc = 0; pc < f.operations(); ++pc) {
    if (f.executed(pc) <= 0 || !chosen(pc)) continue;
    const std::string& base = f.origin(pc).base;
    for (size_t from = 0; from < base.size();) {
      const size_t end = std::min(base.find(" + ", from), base.size());
      const auto name = std::ranges::find(names, base.substr(from, end - from));
      if (name != names.end()) found.insert(static_cast<size_t>(name - names.begin()));
      from = end + 3;
    }
  }
  return found;
}

/// "%rd1+4" of "ld.global.f32 %f1, [%rd1+4]".
std::string_view address_in(const Facts& f, uint64_t pc) {
  std::string_view text = text_cell(f.kernel().per_pc, "ptx", pc);
  text.remove_prefix(std::min(text.size(), text.find('[') + 1));
  return text.substr(0, text.find(']'));
}

}  // namespace

std::string handed_on(const std::vector<std::vector<std::string>>& arguments, const Facts& f,
                      std::string_view ptx) {
  const std::vector<std::string> names = parameters_of(ptx, f.kernel().name);
  const auto writes = [&](uint64_t pc) {
    return f.op_class(pc) == "store_global" || f.op_class(pc) == "atom_global";
  };
  const auto reads = [&](uint64_t pc) { return f.op_class(pc) == "load_global"; };
  std::set<std::string_view> own;
  for (uint64_t pc = 0; pc < f.operations(); ++pc)
    if (writes(pc)) own.insert(address_in(f, pc));
  const std::set<size_t> read = parameters_in(f, names, reads), written = parameters_in(f, names, writes);
  // Where loaded values say what is read, and nothing is written there, it is no piece of the launch's own.
  const std::set<size_t> anywhere = parameters_in(f, names, [&](uint64_t pc) {
    return reads(pc) && f.origin(pc).of_data && !own.contains(address_in(f, pc));
  });
  // Of each buffer and the parameter by which it was written, the arguments of these launches.
  std::map<std::pair<std::string, size_t>, std::set<std::vector<std::string>>> there;
  for (const std::vector<std::string>& of_launch : arguments) {
    for (const size_t r : read)
      for (const size_t w : written) {
        if (r >= of_launch.size()) continue;
        // By one parameter, launches may each read and write a piece of their own, which another argument
        // says.
        const auto before = there.find({of_launch[r], w});
        if (before != there.end() && (r != w || anywhere.contains(r) || before->second.contains(of_launch)))
          return of_launch[r];
      }
    for (const size_t w : written)
      if (w < of_launch.size() && !of_launch[w].empty()) there[{of_launch[w], w}].insert(of_launch);
  }
  return {};
}

std::string handed_on(const Recording& recording, const std::vector<uint64_t>& launches, const Facts& f,
                      std::string_view ptx) {
  std::vector<std::vector<std::string>> arguments;
  try {
    const std::vector<core::WrittenLaunch> all =
        core::written_launches(recording.launch_text(), recording.path() + ":/inputs/launch");
    bool repeated = false;
    for (const uint64_t launch : launches) {
      const uint64_t number = recording.attribute(launch, "launch");
      repeated = repeated || number >= all.size();
      if (number < all.size()) arguments.push_back(all[number].arguments);
    }
    if (repeated) {
      // A loop carries out its launches again: what one writes, those before it in the file read as well.
      arguments.clear();
      for (int turn = 0; turn < 2; ++turn)
        for (const core::WrittenLaunch& l : all)
          if (l.kernel.empty() || l.kernel == f.kernel().name) arguments.push_back(l.arguments);
    }
  } catch (const core::InputError&) {
    // Options stood for a launch file.
  }
  return handed_on(arguments, f, ptx);
}

}  // namespace gpusim::analysis::advice
