#include "plan.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace hardware {

namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw Error(path + ": error: cannot be opened for reading");
  std::string all(static_cast<size_t>(std::max<std::streamoff>(in.tellg(), 0)), '\0');
  in.seekg(0);
  in.read(all.data(), static_cast<std::streamsize>(all.size()));
  if (!in) throw Error(path + ": error: cannot be read");
  return all;
}

class Reader {
 public:
  explicit Reader(const std::string& folder) : path_(folder + "/plan.txt") { plan_.folder = folder; }

  Plan read() {
    std::istringstream text(read_file(path_));
    std::string line;
    while (std::getline(text, line)) {
      ++number_;
      if (number_ == 1 ? line != "gpusim-plan 1" : false) fail("this is not a plan of version 1");
      if (number_ > 1 && !line.empty()) statement(line);
    }
    if (number_ == 0) fail("the file is empty");
    if (plan_.name.empty() || plan_.ptx.empty()) fail("'name' or 'ptx' is missing");
    if (plan_.launches.empty()) fail("there is no 'kernel'");
    for (Buffer& b : plan_.buffers)
      for (Address& a : b.addresses) a.target = buffer(a.buffer);
    plan_.ptx = read_file(plan_.folder + "/" + plan_.ptx);
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(path_ + ":" + std::to_string(number_) + ": error: " + what);
  }
  template <class... T>
  void fields(const std::string& rest, T&... values) const {
    std::istringstream in(rest);
    const bool good = static_cast<bool>((in >> ... >> values));
    std::string more;
    if (!good || in >> more)
      fail("expected " + std::to_string(sizeof...(values)) + " fields, found '" + rest + "'");
  }
  Launch& last() {
    if (plan_.launches.empty()) fail("an argument stands behind its 'kernel'");
    return plan_.launches.back();
  }

  void statement(const std::string& line) {
    const size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank),
                      rest = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (word == "name")
      plan_.name = rest;
    else if (word == "ptx")
      plan_.ptx = rest;
    else if (word == "record_ptx")
      plan_.record_ptx = rest;
    else if (word == "record_launch")
      plan_.record_launch = rest;
    else if (word == "sha256")
      fields(rest, plan_.sha256);
    else if (word == "fitting")
      fields(rest, plan_.fitting);
    else if (word == "seed")
      fields(rest, plan_.seed);
    else if (word == "param")
      plan_.params.emplace_back(), fields(rest, plan_.params.back().first, plan_.params.back().second);
    else if (word == "content")
      content(rest, false);
    else if (word == "variable")
      content(rest, true);
    else if (word == "address")
      address(rest);
    else if (word == "kernel")
      kernel(rest);
    else if (word == "buffer")
      last().arguments.push_back({true, buffer(rest), {}});
    else if (word == "bytes")
      last().arguments.push_back({false, 0, bytes(rest)});
    else
      fail("unknown word '" + word + "'");
  }
  void content(const std::string& rest, bool is_variable) {
    Buffer b;
    std::string kind;
    fields(rest, b.name, b.bytes, kind);
    b.is_variable = is_variable;
    b.of_module = is_variable && kind == "module";
    if (kind != "zeros" && kind != "file" && !b.of_module)
      fail(is_variable ? "a variable's content is 'zeros', 'file' or 'module'"
                       : "a buffer's content is 'zeros' or 'file'");
    if (kind == "file") {
      const std::string all = read_file(plan_.folder + "/" + b.name + ".bin");
      if (all.size() != b.bytes) fail(b.name + ".bin has " + std::to_string(all.size()) + " bytes");
      b.content.assign(all.begin(), all.end());
    }
    plan_.buffers.push_back(std::move(b));
  }
  void address(const std::string& rest) {
    if (plan_.buffers.empty()) fail("an address stands behind the buffer or variable that it is in");
    Address a;
    fields(rest, a.at, a.buffer, a.offset);
    Buffer& b = plan_.buffers.back();
    if (a.at + 8 > b.bytes) fail("'" + b.name + "' has " + std::to_string(b.bytes) + " bytes");
    b.addresses.push_back(std::move(a));
  }
  void kernel(const std::string& rest) {
    Launch l;
    fields(rest, l.kernel, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
           l.shared_bytes);
    plan_.launches.push_back(std::move(l));
  }
  size_t buffer(const std::string& name) const {
    for (size_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].name == name) return i;
    fail("there is no buffer '" + name + "'");
  }
  std::vector<unsigned char> bytes(const std::string& digits) const {
    if (digits.empty() || digits.size() % 2 != 0 ||
        digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      fail("expected pairs of hexadecimal digits, found '" + digits + "'");
    std::vector<unsigned char> all;
    for (size_t i = 0; i < digits.size(); i += 2)
      all.push_back(static_cast<unsigned char>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    return all;
  }

  std::string path_;
  size_t number_ = 0;
  Plan plan_;
};

}  // namespace

bool notes_clocks(const Buffer& buffer, const Launch& launch) {
  return buffer.name == launch.kernel && buffer.bytes != 0 && buffer.bytes % (4 * kClockWords) == 0;
}

Plan read_plan(const std::string& folder) { return Reader(folder).read(); }

}  // namespace hardware
