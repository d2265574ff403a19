#include "isa/ptx/parser/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "isa/ptx/diagnostics.h"
#include "isa/ptx/parser/parser_impl.h"

namespace gpusim::isa {
namespace {

constexpr std::string_view kModuleDirectives[] = {"version", "target", "address_size", "file",   "section",
                                                  "pragma",  "extern", "visible",      "weak",   "common",
                                                  "entry",   "func",   "global",       "const",  "shared",
                                                  "tex",     "alias",  "samplerref",   "texref", "surfref"};

/// Minor versions ended at these.
bool is_known_version(int number) {
  constexpr int kLast[] = {0, 105, 203, 302, 403, 500, 605, 708, 808, 901};
  return number <= kLast[number / 100];
}

std::string describe(const Token& t) {
  if (t.kind == Token::Kind::kEnd) return "the end of the file";
  return fmt::format("'{}'", t.text.substr(0, 80));
}

/// What is wrong with a target in a file of this version; empty if nothing. PTX ISA, "Release Notes".
std::string check_target(std::string_view number, int version) {
  struct Target {
    std::string_view number;
    int version;
    std::string_view letters;  // variants: a and f
    int family_version;        // of those
  };
  constexpr Target kTargets[] = {
      {"10", 100, "", 0},      {"11", 100, "", 0},      {"12", 102, "", 0},      {"13", 102, "", 0},
      {"20", 200, "", 0},      {"21", 200, "", 0},      {"30", 300, "", 0},      {"32", 400, "", 0},
      {"35", 301, "", 0},      {"37", 401, "", 0},      {"50", 400, "", 0},      {"52", 401, "", 0},
      {"53", 402, "", 0},      {"60", 500, "", 0},      {"61", 500, "", 0},      {"62", 500, "", 0},
      {"70", 600, "", 0},      {"72", 601, "", 0},      {"75", 603, "", 0},      {"80", 700, "", 0},
      {"86", 701, "", 0},      {"87", 704, "", 0},      {"88", 703, "", 0},      {"89", 708, "", 0},
      {"90", 708, "a", 800},   {"100", 806, "af", 806}, {"101", 806, "af", 806}, {"103", 808, "af", 808},
      {"110", 900, "af", 900}, {"120", 807, "af", 807}, {"121", 808, "af", 808}};
  for (const Target& t : kTargets) {
    const std::string_view letter = number.starts_with(t.number) ? number.substr(t.number.size()) : "?";
    if (letter.size() > 1 || (!letter.empty() && t.letters.find(letter) == std::string_view::npos)) continue;
    const int needed = letter.empty()  ? t.version
                       : letter == "f" ? std::max(t.family_version, 808)
                                       : t.family_version;
    if (version >= needed) return {};
    return fmt::format("target sm_{} needs PTX {}.{} or later", number, needed / 100, needed % 100);
  }
  return fmt::format("there is no target sm_{}", number);
}

}  // namespace

bool ModuleParser::is_module_directive(std::string_view name) {
  return std::find(std::begin(kModuleDirectives), std::end(kModuleDirectives), name) !=
         std::end(kModuleDirectives);
}

bool ParseResult::ok() const { return !has_errors(diagnostics); }

ParseResult parse_module(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    ParseResult result;
    result.diagnostics.push_back(
        {Diagnostic::Severity::kError, {1, 1}, "the PTX text is larger than 1 GiB", {}});
    return result;
  }
  return ModuleParser(text).parse();
}

ModuleParser::ModuleParser(std::string_view text) : text_(text), lexer_(text, diagnostics_) {
  token_ = lexer_.next();
  ahead_ = lexer_.next();
}

ParseResult ModuleParser::parse() {
  while (token_.kind != Token::Kind::kEnd && !too_many_errors()) {
    const uint32_t start = token_.begin;
    brace_depth_ = 0;
    try {
      parse_item();
    } catch (const SyntaxError& e) {
      report(e);
      skip_statement();
      if (at("{")) skip_braces();
      if (at("}") || (token_.begin == start && token_.kind != Token::Kind::kEnd)) take();
      accept(";");  // behind the braces of an initial value
    }
  }
  if (!has_version_ && !reported_version_ && !too_many_errors()) {
    report({{1, 1}, "the file has no .version directive", "a PTX file begins with '.version M.N'"});
  }
  if (debug_.line != 0 && !has_sections_ && !too_many_errors())
    report({debug_, "'.target debug' needs the debug sections", "a .section such as .debug_info"});
  if (too_many_errors()) {
    diagnostics_.resize(kMaxDiagnostics);
    diagnostics_.back().message += fmt::format(" (and more: only {} messages are shown)", kMaxDiagnostics);
  }
  if (module_.address_size == 0) infer_address_size(module_);
  sort_by_location(diagnostics_);
  module_.index_symbols();
  return {std::move(module_), std::move(diagnostics_)};
}

// --- tokens ---

Token ModuleParser::take() {
  previous_ = token_;
  token_ = ahead_;
  ahead_ = lexer_.next();
  return previous_;
}

bool ModuleParser::accept(std::string_view punctuation) {
  if (!at(punctuation)) return false;
  take();
  return true;
}

bool ModuleParser::accept_name(std::string_view dot_name) {
  if (!at_name(dot_name)) return false;
  take();
  return true;
}

void ModuleParser::expect(std::string_view punctuation, std::string_view where) {
  if (!accept(punctuation)) fail_here(fmt::format("'{}' {}", punctuation, where));
}

/// A statement that lacks its `;` is reported where it ends, and the next line is read as usual.
void ModuleParser::expect_semicolon() {
  if (accept(";")) return;
  if (token_.loc.line == previous_.loc.line && token_.kind != Token::Kind::kEnd) fail_here("';'");
  SourceLoc end = previous_.loc;
  end.column += previous_.end - previous_.begin;
  report({end, "expected ';' at the end of the statement", {}});
}

Token ModuleParser::expect_identifier(std::string_view what) {
  if (token_.kind != Token::Kind::kIdentifier) fail_here(what);
  return take();
}

uint64_t ModuleParser::expect_integer(std::string_view what) {
  if (token_.kind != Token::Kind::kInteger) fail_here(what);
  check_size(token_);
  return take().value;
}

void ModuleParser::check_size(const Token& integer) const {
  if (integer.is_too_large)
    fail(integer.loc, fmt::format("integer constant '{}' does not fit 64 bits", integer.text.substr(0, 40)));
}

void ModuleParser::fail(SourceLoc loc, std::string message, std::string hint) const {
  throw SyntaxError{loc, std::move(message), std::move(hint), false};
}

void ModuleParser::fail_here(std::string_view expected) const {
  fail(token_.loc, fmt::format("expected {}, found {}", expected, describe(token_)));
}

void ModuleParser::report(const SyntaxError& e) {
  if (e.follows) return;
  diagnostics_.push_back({Diagnostic::Severity::kError, e.loc, e.message, e.hint});
}

/// To behind the next `;`, or before a brace that ends or opens a scope. Braces of vectors do not count.
void ModuleParser::skip_statement() {
  int depth = brace_depth_;
  brace_depth_ = 0;
  while (token_.kind != Token::Kind::kEnd) {
    if (accept(";")) return;
    if (at("{")) {
      if (depth == 0 && function_ == nullptr) return;
      ++depth;
    } else if (at("}") && depth-- == 0) {
      return;
    }
    take();
  }
}

void ModuleParser::skip_braces() {
  const SourceLoc open = token_.loc;
  int depth = 0;
  do {
    if (at("{")) ++depth;
    if (at("}")) --depth;
    if (token_.kind == Token::Kind::kEnd) {
      report({open, "'{' is not closed, expected '}'", {}});
      return;
    }
    take();
  } while (depth > 0);
}

// --- module level ---

void ModuleParser::parse_item() {
  if (token_.kind != Token::Kind::kDotName) {
    if (at("}")) fail(token_.loc, "'}' closes nothing");
    fail_here("a directive such as .entry, .func or .global");
  }
  const std::string_view name = token_.name();
  const Header before = std::exchange(header_, Header::kBody);
  if (name == "version") return parse_version();
  require_version(token_.loc);
  if (name == "target") {
    if (before == Header::kBody && has_version_) fail(token_.loc, "'.target' must follow '.version'");
    return parse_target();
  }
  if (name == "address_size") {
    if (before != Header::kTarget) fail(token_.loc, "'.address_size' must follow '.target', once");
    return parse_address_size();
  }
  if (name == "file") return parse_file();
  if (name == "loc") return parse_loc();
  if (name == "section") return parse_section();
  if (name == "pragma") return parse_pragma();
  if (name == "alias") return parse_alias();
  if (name == "reg") return parse_module_registers();
  parse_linked_item();
}

void ModuleParser::require_version(SourceLoc loc) {
  if (has_version_ || reported_version_) return;
  reported_version_ = true;
  report({loc, "the first directive must be .version", "a PTX file begins with '.version M.N'"});
}

void ModuleParser::parse_version() {
  const Token directive = take();
  if (token_.kind != Token::Kind::kFloat64) fail_here("a version such as 6.4");
  const Token version = take();
  if (has_version_) fail(directive.loc, "a second .version directive");
  has_version_ = true;
  const char* begin = version.text.data();
  const char* end = begin + version.text.size();
  const char* dot = begin + std::min(version.text.find('.'), version.text.size() - 1);
  int major = 0, minor = 0;
  const auto major_end = std::from_chars(begin, dot, major);
  const auto minor_end = std::from_chars(dot + 1, end, minor);
  const bool is_number = major_end.ec == std::errc() && major_end.ptr == dot && minor_end.ec == std::errc() &&
                         minor_end.ptr == end;
  if (!is_number || major < 1 || major > 9 || minor > 9) {
    report({version.loc, fmt::format("PTX version {} is not supported", version.text.substr(0, 80)),
            "PTX 1.0 to 9.x are"});
    major = 9;  // what follows is judged by the newest rules
    minor = 0;
  }
  if (is_number && !is_known_version(100 * major + minor)) {
    report({version.loc, fmt::format("there is no PTX version {}", version.text.substr(0, 80)), {}});
  }
  module_.version_major = major;
  module_.version_minor = minor;
  header_ = Header::kVersion;
}

/// Words of .target beside the architecture. The texture mode is one of two.
void ModuleParser::parse_target_option(const Token& name) {
  struct Option {
    std::string_view name;
    int version;
    bool is_texture_mode;
  };
  constexpr Option kOptions[] = {{"map_f64_to_f32", 100, false},
                                 {"debug", 100, false},
                                 {"texmode_unified", 100, true},
                                 {"texmode_independent", 105, true}};
  const auto* option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                    [&](const Option& o) { return o.name == name.text; });
  if (option == std::end(kOptions)) {
    NearestName nearest(name.text);
    for (const Option& o : kOptions) nearest.consider(o.name);
    fail(name.loc, fmt::format("unknown target '{}'", name.text), nearest.hint());
  }
  if (module_.target_sm == 0 && has_version_)
    fail(name.loc, fmt::format("'{}' stands behind an architecture", name.text), "such as .target sm_70");
  if (version() < option->version)
    fail(name.loc,
         fmt::format("'{}' came with PTX {}.{}", name.text, option->version / 100, option->version % 100));
  if (option->is_texture_mode && !texture_mode_.empty() && texture_mode_ != name.text)
    fail(name.loc, fmt::format("'{}' behind '{}': a file has one texture mode", name.text, texture_mode_));
  if (option->is_texture_mode) texture_mode_ = name.text;
  if (name.text == "debug") debug_ = name.loc;
  if (name.text == "map_f64_to_f32") {
    module_.map_f64_to_f32 = true;
    if (module_.target_sm >= 20)
      fail(name.loc, "'map_f64_to_f32' is for the first targets", "sm_10 to sm_13");
  }
}

void ModuleParser::parse_target() {
  take();
  do {
    const Token name = expect_identifier("a target such as sm_70");
    if (!module_.target_text.empty()) module_.target_text += ", ";
    module_.target_text += name.text;
    if (name.text.substr(0, 3) == "sm_" || name.text.substr(0, 8) == "compute_") {
      const std::string_view number = name.text.substr(name.text.find('_') + 1);
      int sm = 0;
      const auto [stop, status] = std::from_chars(number.data(), number.data() + number.size(), sm);
      const auto rest = static_cast<size_t>(number.data() + number.size() - stop);
      if (status != std::errc() || sm < 10 || sm > 999 || rest > 1) {
        fail(name.loc, fmt::format("unknown target '{}'", name.text), "targets are sm_10 to sm_121");
      }
      if (const std::string wrong = check_target(number, version()); has_version_ && !wrong.empty())
        fail(name.loc, wrong);
      module_.target_sm = sm;
      module_.target_letter = rest == 1 ? *stop : '\0';
    } else {
      parse_target_option(name);
    }
  } while (accept(","));
  header_ = Header::kTarget;
}

void ModuleParser::parse_address_size() {
  take();
  const SourceLoc loc = token_.loc;
  const uint64_t size = expect_integer("an address size, 32 or 64");
  if (size != 32 && size != 64) fail(loc, fmt::format(".address_size {} is neither 32 nor 64", size));
  if (version() < 203) fail(loc, "'.address_size' came with PTX 2.3");
  constexpr int kLast32 = 89;
  if (size == 32 && (module_.target_sm > kLast32 || version() >= 900))
    fail(loc, "addresses have 64 bits from sm_90 and from PTX 9.0 on");
  module_.address_size = static_cast<int>(size);
}

void ModuleParser::parse_file() {
  take();
  const SourceLoc loc = token_.loc;
  const uint64_t number = expect_integer("a file number");
  if (token_.kind != Token::Kind::kString) fail_here("a file name in quotes");
  const std::string_view name = take().text;
  while (accept(",")) expect_integer("a time stamp or size");
  constexpr uint64_t kMaxFiles = 65536;
  if (number >= kMaxFiles) fail(loc, fmt::format("file number {} is above {}", number, kMaxFiles - 1));
  if (module_.source_files.size() <= number) module_.source_files.resize(number + 1);
  module_.source_files[number] = name;
}

/// Debug sections are not used: `{ ... }`, or data lines without braces in old files.
void ModuleParser::parse_section() {
  has_sections_ = true;
  const uint32_t line = take().loc.line;
  while (token_.kind != Token::Kind::kEnd && token_.loc.line == line && !at("{")) take();
  if (at("{")) skip_braces();
}

void ModuleParser::parse_pragma() {
  take();
  do {
    if (token_.kind != Token::Kind::kString) fail_here("a string in quotes");
    const std::string_view text = token_.text;
    if (text == "nounroll") no_unroll_ = true;
    note_used_bytes(take().text);
  } while (accept(","));
  expect_semicolon();
}

/// "used_bytes_mask N": bit i of N is clear if nothing uses byte i of the next load.
void ModuleParser::note_used_bytes(std::string_view pragma) {
  constexpr std::string_view kName = "used_bytes_mask ";
  if (!pragma.starts_with(kName)) return;
  pragma.remove_prefix(kName.size());
  const int base = pragma.starts_with("0x") ? 16 : 10;
  if (base == 16) pragma.remove_prefix(2);
  uint32_t mask = 0;
  const auto [end, error] = std::from_chars(pragma.data(), pragma.data() + pragma.size(), mask, base);
  if (error == std::errc() && end == pragma.data() + pragma.size()) unused_bytes_ = ~mask;
}

void ModuleParser::parse_alias() {
  take();
  const Token alias = expect_identifier("a function name");
  expect(",", "between the two names of .alias");
  const Token target = expect_identifier("a function name");
  expect_semicolon();
  module_.aliases.push_back({std::string(alias.text), std::string(target.text), alias.loc});
}

Linkage ModuleParser::parse_linkage() {
  constexpr std::pair<std::string_view, Linkage> kLinkages[] = {{"extern", Linkage::kExtern},
                                                                {"visible", Linkage::kVisible},
                                                                {"weak", Linkage::kWeak},
                                                                {"common", Linkage::kCommon}};
  for (const auto& [name, linkage] : kLinkages) {
    const SourceLoc loc = token_.loc;
    if (!accept_name(name)) continue;
    if (linkage == Linkage::kWeak && version() < 301) fail(loc, "'.weak' came with PTX 3.1");
    for (const auto& [other, ignored] : kLinkages) {
      if (at_name(other))
        fail(token_.loc,
             fmt::format("'{}' behind '{}': a symbol has one linkage", token_.text, previous_.text));
    }
    return linkage;
  }
  return Linkage::kInternal;
}

void ModuleParser::parse_linked_item() {
  const Linkage linkage = parse_linkage();
  const SourceLoc loc = token_.loc;
  Declarator before;  // an alignment may stand before the state space
  if (at_name("align")) parse_alignment(before);
  if (token_.kind != Token::Kind::kDotName) fail_here(".entry, .func or a state space such as .global");
  const std::string_view name = token_.name();
  if (name == "entry" || name == "func") {
    if (linkage == Linkage::kCommon)
      fail(loc, fmt::format(".common is for .global variables, not .{}", name));
    if (before.align != 0) fail(loc, "a function has no alignment");
    take();
    return parse_function(name == "entry", linkage, loc);
  }
  const Space space = space_from_name(name);
  if (space == Space::kGlobal || space == Space::kConst || space == Space::kShared || space == Space::kTex ||
      space == Space::kLocal) {
    if (linkage == Linkage::kCommon && space != Space::kGlobal)
      fail(loc, fmt::format(".common is for .global variables, not .{}", name));
    if (space == Space::kTex && version() > 104)
      fail(loc, "'.tex' variables ended with PTX 1.4", "use .global .texref");
    if (space == Space::kLocal && has_abi())
      fail(loc, "a .local variable cannot stand outside a function", "up to PTX 2.3 it can");
    take();
    return parse_module_variables(space, linkage, before.align);
  }
  if (space != Space::kNone) fail(loc, fmt::format("a .{} variable cannot stand outside a function", name));
  NearestName nearest(name);
  for (const std::string_view d : kModuleDirectives) nearest.consider(d);
  fail(loc, fmt::format("unknown directive '.{}'", name.substr(0, 80)),
       nearest.best().empty() ? "" : fmt::format("did you mean '.{}'?", nearest.best()));
}

}  // namespace gpusim::isa
