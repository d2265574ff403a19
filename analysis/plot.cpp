#include "analysis/plot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
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

/// An SVG file that was not cut off.
bool is_whole(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.find("</svg>") != std::string::npos;
}

}  // namespace

std::string plot_commands(const Plot& plot) {
  std::string out = fmt::format(
      "set terminal svg size 800,560 background rgb 'white' font 'Helvetica,14' noenhanced\n"
      "set title {}\nset xlabel {}\nset ylabel {}\nset grid\nset key outside below\n",
      quoted(plot.title), quoted(plot.x_label), quoted(plot.y_label));
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
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw core::InputError(fmt::format("{}: error: not a regular file", file));
  const std::string temporary = file + ".part";
  const std::unique_ptr<FILE, int (*)(FILE*)> script(tmpfile(), &fclose);
  const std::string commands = plot_commands(plot);
  if (script == nullptr || fwrite(commands.data(), 1, commands.size(), script.get()) != commands.size() ||
      fflush(script.get()) != 0)
    throw core::InputError("gpusim: error: no room for a temporary file");
  rewind(script.get());
  const int out = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (out < 0) throw core::InputError(fmt::format("{}: error: cannot be written: {}", file, strerror(errno)));
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(script.get()), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execlp("gnuplot", "gnuplot", "-", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(out);
  int result = 0;
  const bool ended = child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result);
  const int code = ended ? WEXITSTATUS(result) : 1;
  // gnuplot does not notice a full disk.
  if (code == 0 && is_whole(temporary)) fs::rename(temporary, file, error);
  if (code == 0 && !error && !fs::exists(temporary)) return;
  fs::remove(temporary, error);
  if (code == 127)
    throw core::InputError(
        "gpusim: error: plots are drawn by gnuplot, which is not on the PATH (Debian: gnuplot-nox)");
  throw core::InputError(fmt::format("{}: error: gnuplot could not draw it, or the disk is full", file));
}

}  // namespace gpusim::analysis
