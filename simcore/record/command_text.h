// The recorded command line (docs/file_format.md): what made a file, without what does not change results.
// Files stand in it by name and hash, values in quotes; readers find parameters in it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpusim::core {

class CommandText {
 public:
  CommandText(const std::string& config, std::string_view config_text, const std::string& ptx,
              std::string_view ptx_text);
  void linked(const std::string& file, std::string_view text);
  void launch(const std::string& file, std::string_view text);
  /// `option 'value'`; nothing if the value is empty.
  void option(const char* option, const std::string& value);
  void options(const char* option, const std::vector<std::string>& values);
  /// `option value`
  void plain(const char* option, std::string_view value);
  void number(const char* option, uint64_t value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace gpusim::core
