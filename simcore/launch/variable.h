// [[variable]] of launch files, and elements that are addresses. Include only from .cpp files (toml++).
#pragma once
#include <string_view>

#include "simcore/launch/init.h"
#include "simcore/launch/reader.h"

namespace gpusim::core {

/// Appends the variable to the launch's buffers. What depends on its declaration is kept as written.
void read_variable(const ReadContext& context, const FileAccess& files, const toml::table& table,
                   LaunchDescription& launch);

/// address = ... of a buffer or variable.
void read_device_address(const ReadContext& context, const TableReader& reader, BufferSpec& buffer);
/// init = ... of something whose type is not known yet: kept as written.
void read_variable_init(const ReadContext& context, const toml::node& node, BufferSpec& variable);
/// "address(...)"
[[nodiscard]] bool is_address(std::string_view text);
/// Numbers and addresses of an array into `init`.
void read_elements(const ReadContext& context, const toml::array& array, InitSpec& init);
/// Looks up the names in all addresses.
void resolve_addresses(LaunchDescription& launch, Messages& messages);

}  // namespace gpusim::core
