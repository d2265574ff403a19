#include "simcore/record/command_text.h"

#include <fmt/format.h>

#include <filesystem>

namespace gpusim::core {
namespace {

/// FNV-1a, 64 bit.
uint64_t hash_of(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

std::string file_and_hash(const std::string& path, std::string_view text) {
  return fmt::format("{}#{:016x}", std::filesystem::path(path).filename().string(), hash_of(text));
}

}  // namespace

CommandText::CommandText(const std::string& config, std::string_view config_text, const std::string& ptx,
                         std::string_view ptx_text)
    : text_(fmt::format("gpusim --config {} {}", file_and_hash(config, config_text),
                        file_and_hash(ptx, ptx_text))) {}

void CommandText::linked(const std::string& file, std::string_view text) {
  text_ += " + " + file_and_hash(file, text);
}

void CommandText::launch(const std::string& file, std::string_view text) {
  plain("--launch", file_and_hash(file, text));
}

void CommandText::option(const char* option, const std::string& value) {
  if (!value.empty()) plain(option, fmt::format("'{}'", value));
}

void CommandText::options(const char* option, const std::vector<std::string>& values) {
  for (const std::string& value : values) this->option(option, value);
}

void CommandText::plain(const char* option, std::string_view value) {
  text_ += fmt::format(" {} {}", option, value);
}

void CommandText::number(const char* option, uint64_t value) { plain(option, std::to_string(value)); }

}  // namespace gpusim::core
