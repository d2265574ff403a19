#include "analysis/plot.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "analysis/text.h"
#include "simcore/text/input_error.h"

namespace gpusim::analysis {

namespace {

/// Inside single quotes, where gnuplot interprets nothing but the quote itself.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : printable(text)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

/// Blue, orange, green, ...: told apart by the colour-blind too, and by their marks without colour (Okabe and
/// Ito, "Color Universal Design", 2008).
constexpr std::array<const char*, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                              "#000000", "#56B4E9", "#E69F00"};

}  // namespace

std::string plot_commands(const Plot& plot, const std::string& file) {
  std::string out = fmt::format(
      "set terminal svg size 800,560 background rgb 'white' font 'Helvetica,14' noenhanced\n"
      "set output {}\nset title {}\nset xlabel {}\nset ylabel {}\nset grid\nset key outside below\n",
      quoted(file), quoted(plot.title), quoted(plot.x_label), quoted(plot.y_label));
  if (plot.log_x) out += "set logscale x\n";
  if (plot.log_y) out += "set logscale y\n";
  std::string curves;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    const Series& s = plot.series[i];
    out += fmt::format("$data{} << EOD\n", i);
    for (size_t p = 0; p < s.points.size(); ++p)
      out += fmt::format("{} {} \"{}\"\n", s.points[p].first, s.points[p].second,
                         p < s.labels.size() ? printable(s.labels[p]) : "");
    out += "EOD\n";
    curves += fmt::format("{}$data{} using 1:2 with {} lc rgb '{}' lw 2{}{} {}", curves.empty() ? "" : ", ",
                          i, s.marks ? "linespoints" : "lines", kColours[i % kColours.size()],
                          s.dashed ? " dt 2" : "", s.marks ? fmt::format(" pt {} ps 0.9", 4 + i % 10) : "",
                          s.title.empty() ? "notitle" : "title " + quoted(s.title));
    if (!s.labels.empty())
      curves += fmt::format(", $data{} using 1:2:3 with labels offset 1.2,0.6 font ',11' notitle", i);
  }
  return out + "plot " + (curves.empty() ? "NaN notitle" : curves) + "\n";
}

void draw_svg(const Plot& plot, const std::string& file) {
  const std::string temporary = file + ".part";
  const std::unique_ptr<FILE, int (*)(FILE*)> script(tmpfile(), &fclose);
  const std::string commands = plot_commands(plot, temporary);
  if (script == nullptr || fwrite(commands.data(), 1, commands.size(), script.get()) != commands.size() ||
      fflush(script.get()) != 0)
    throw core::InputError("gpusim: error: no room for a temporary file");
  rewind(script.get());
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(script.get()), STDIN_FILENO);
    execlp("gnuplot", "gnuplot", "-", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    throw core::InputError("gpusim: error: cannot start gnuplot");
  std::error_code error;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    throw core::InputError(
        "gpusim: error: plots are drawn by gnuplot, which is not on the PATH (Debian: gnuplot-nox)");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !std::filesystem::exists(temporary)) {
    std::filesystem::remove(temporary, error);
    throw core::InputError(fmt::format("{}: error: gnuplot could not draw it", file));
  }
  std::filesystem::rename(temporary, file, error);
  if (error) throw core::InputError(fmt::format("{}: error: {}", file, error.message()));
}

}  // namespace gpusim::analysis
