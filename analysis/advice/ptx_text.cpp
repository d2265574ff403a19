#include "analysis/advice/ptx_text.h"

#include <algorithm>
#include <cctype>

namespace gpusim::analysis::advice {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Behind the comment or the quoted text that begins at `at`; `at` if none does.
size_t behind_comment(std::string_view ptx, size_t at) {
  const auto behind = [&](std::string_view end, size_t from) {
    const size_t found = ptx.find(end, from);
    return found == std::string_view::npos ? ptx.size() : found + end.size();
  };
  const std::string_view two = ptx.substr(at, 2);
  if (two == "//") return std::min(ptx.find('\n', at), ptx.size());
  if (two == "/*") return behind("*/", at + 2);
  return two.starts_with('"') ? behind("\"", at + 1) : at;
}

size_t behind_blanks(std::string_view ptx, size_t at) {
  while (at < ptx.size()) {
    const size_t next = is_blank(ptx[at]) ? at + 1 : behind_comment(ptx, at);
    if (next == at) break;
    at = next;
  }
  return at;
}

/// Behind the kernel's name in its definition; the size of the text if there is none.
size_t behind_name(std::string_view ptx, std::string_view kernel) {
  constexpr std::string_view kEntry = ".entry";
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  for (size_t at = 0; at < ptx.size();) {
    if (const size_t next = behind_comment(ptx, at); next != at) {
      at = next;
      continue;
    }
    if (!ptx.substr(at).starts_with(kEntry)) {
      ++at;
      continue;
    }
    at = behind_blanks(ptx, at + kEntry.size());
    const size_t end = at + kernel.size();
    if (ptx.substr(at).starts_with(kernel) && (end == ptx.size() || !in_name(ptx[end]))) return end;
  }
  return ptx.size();
}

struct Body {
  std::vector<std::string> statements;
  std::map<std::string, size_t, std::less<>> labels;
};

Body body_of(std::string_view ptx, std::string_view kernel) {
  Body body;
  std::vector<std::string>& statements = body.statements;
  std::string text;
  size_t depth = 0, braces = 0;  // of blocks, and of vectors within a statement
  for (size_t at = behind_name(ptx, kernel); at < ptx.size(); ++at) {
    const size_t next = behind_comment(ptx, at);
    const char c = next == at ? ptx[at] : ' ';
    if (next != at) at = next - 1;
    if (depth == 0) {
      if (c == '{') depth = 1;
    } else if (c == '{') {
      if (text.empty()) {
        ++depth;
      } else {
        ++braces;
        text += c;
      }
    } else if (c == '}' && braces > 0) {
      --braces;
      text += c;
    } else if (c == '}') {
      text.clear();
      if (--depth == 0) break;
    } else if (c == '\n' && text.starts_with(".loc")) {
      text.clear();
    } else if (c == ':' && ptx.substr(at, 2) == "::") {  // .shared::cta
      text += "::";
      ++at;
    } else if (c == ';' || c == ':') {  // the end of a statement, or a label
      if (text.ends_with(' ')) text.pop_back();
      if (c == ';' && !text.empty()) statements.push_back(text);
      if (c == ':' && !text.empty()) body.labels.emplace(text, statements.size());
      text.clear();
    } else if (!is_blank(c)) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return body;
}

}  // namespace

std::vector<std::string> statements_of(std::string_view ptx, std::string_view kernel) {
  return body_of(ptx, kernel).statements;
}

std::map<std::string, size_t, std::less<>> labels_of(std::string_view ptx, std::string_view kernel) {
  return body_of(ptx, kernel).labels;
}

bool has_kernel(std::string_view ptx, std::string_view kernel) {
  return behind_name(ptx, kernel) < ptx.size();
}

std::vector<std::string> parameters_of(std::string_view ptx, std::string_view kernel) {
  std::vector<std::string> names;
  size_t at = behind_blanks(ptx, behind_name(ptx, kernel));
  if (at >= ptx.size() || ptx[at] != '(') return names;
  // The name is the last word of each, without the size of an array.
  std::string word;
  bool ended = false;
  for (++at; at < ptx.size(); ++at) {
    const size_t next = behind_comment(ptx, at);
    const char c = next == at ? ptx[at] : ' ';
    if (next != at) at = next - 1;
    if (c == ',' || c == ')') {
      if (!word.empty()) names.push_back(word.substr(0, word.find('[')));
      word.clear();
      if (c == ')') break;
    } else if (is_blank(c)) {
      ended = true;
      continue;
    } else {
      if (ended && c != '[') word.clear();
      word += c;
    }
    ended = false;
  }
  return names;
}

uint64_t constant_bytes(std::string_view ptx, std::string_view name) {
  // ".const .align 4 .b8 table[4096];" or ".const .f32 t[4][8] = {...};"
  constexpr std::string_view kConst = ".const";
  if (name.empty()) return 0;
  for (size_t at = ptx.find(kConst); at != std::string_view::npos; at = ptx.find(kConst, at)) {
    at += kConst.size();
    const std::string_view text = ptx.substr(at, std::min(ptx.find_first_of(";={", at), ptx.size()) - at);
    const size_t end = std::min(text.find('['), text.size());
    const size_t last = text.substr(0, end).find_last_not_of(" \t\r\n");
    if (last == std::string_view::npos || !text.substr(0, last + 1).ends_with(name)) continue;
    const size_t from = last + 1 - name.size();
    if (from == 0 || !is_blank(text[from - 1])) continue;
    // Of the type, the width in bits is its number.
    const std::string_view head = text.substr(0, from);
    const size_t type = head.find_last_of('.');
    const auto number = [](std::string_view words) {
      uint64_t n = 0;
      for (const char c : words.substr(std::min(words.find_first_of("0123456789"), words.size()))) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
        n = 10 * n + static_cast<uint64_t>(c - '0');
      }
      return n;
    };
    uint64_t bytes = type == std::string_view::npos ? 0 : number(head.substr(type)) / 8;
    for (size_t size = end; size < text.size(); size = text.find('[', size + 1))
      bytes *= number(text.substr(size));
    return bytes;
  }
  return 0;
}

}  // namespace gpusim::analysis::advice
