#include "simcore/launch/npy.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "simcore/text/text_file.h"
#include "simcore/text/whole_file.h"

namespace gpusim::core {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeader = 1 << 16;

[[noreturn]] void bad(const std::string& path, const std::string& what) {
  raise_input_error({path}, "not a usable .npy file: " + what);
}

/// The text after `'key':` in the header dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key, const std::string& path) {
  for (const char quote : {'\'', '"'}) {
    const std::string wanted = fmt::format("{}{}{}", quote, key, quote);
    size_t at = dictionary.find(wanted);
    if (at == std::string_view::npos) continue;
    at += wanted.size();
    while (at < dictionary.size() && (dictionary[at] == ' ' || dictionary[at] == ':')) ++at;
    return dictionary.substr(at);
  }
  bad(path, fmt::format("its header has no '{}'", key));
}

void parse_descr(std::string_view text, NpyHeader& header, const std::string& path) {
  if (text.size() < 4 || (text[0] != '\'' && text[0] != '"')) bad(path, "structured types are not supported");
  const std::string_view descr = text.substr(1, text.find(text[0], 1) - 1);
  static constexpr std::array<std::string_view, 12> kKnown{"<f2", "<f4", "<f8", "<i2", "<i4", "<i8",
                                                           "<u2", "<u4", "<u8", "|i1", "|u1", "|b1"};
  for (std::string_view known : kKnown) {
    if (descr == known) {
      header.kind = known[1];
      header.item_bytes = static_cast<uint32_t>(known[2] - '0');
      return;
    }
  }
  bad(path,
      fmt::format("type '{}'; integers and floats of 1 to 8 bytes, little endian, are", descr.substr(0, 32)));
}

uint64_t parse_shape(std::string_view text, const std::string& path) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos) bad(path, "its shape is malformed");
  uint64_t count = 1;
  size_t at = 1;
  while (at < close) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    uint64_t extent = 0;
    const size_t start = at;
    for (; at < close && std::isdigit(static_cast<unsigned char>(text[at])); ++at) {
      if (extent > (uint64_t{1} << 50)) bad(path, "its shape is too large");
      extent = extent * 10 + static_cast<uint64_t>(text[at] - '0');
    }
    if (at == start) bad(path, "its shape is malformed");
    if (__builtin_mul_overflow(count, extent, &count) || count > (uint64_t{1} << 50))
      bad(path, "its shape is too large");
  }
  return count;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& path) {
  if (!bytes.starts_with(kMagic) || bytes.size() < 12) bad(path, "it does not begin with the .npy signature");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) bad(path, fmt::format("format version {} is unknown", version));
  const size_t prefix = version == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = 0; i < prefix - 8; ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  if (length > kMaxHeader) bad(path, "its header is too long");
  if (bytes.size() < prefix + length) bad(path, "its header is cut off");
  const std::string_view dictionary = bytes.substr(prefix, length);
  NpyHeader header;
  parse_descr(value_of(dictionary, "descr", path), header, path);
  header.count = parse_shape(value_of(dictionary, "shape", path), path);
  if (value_of(dictionary, "fortran_order", path).starts_with("True")) {
    bad(path, "Fortran order is not supported; save it with numpy.ascontiguousarray");
  }
  header.data_offset = prefix + length;
  return header;
}

NpyHeader read_npy_header(const std::string& path) {
  const InputFile file(path);
  std::string start(kMaxHeader + 12, '\0');
  start.resize(file.read(0, start.data(), start.size()));
  const NpyHeader header = parse_npy_header(start, path);
  if (file.bytes() < header.data_offset + header.count * header.item_bytes) bad(path, "its data is cut off");
  return header;
}

bool npy_matches(const NpyHeader& header, ElementType type) {
  if (header.item_bytes != element_bytes(type)) return false;
  switch (type) {
    case ElementType::kB8:
    case ElementType::kB16:
    case ElementType::kB32:
    case ElementType::kB64:
      return true;
    case ElementType::kBF16:
      return header.kind == 'u' || header.kind == 'i';
    default:
      return (header.kind == 'f') == element_is_float(type);
  }
}

void write_npy(const std::string& path, ElementType type, std::span<const std::byte> content) {
  const bool real = element_is_float(type) && type != ElementType::kBF16;
  const char kind = real ? 'f' : element_is_signed(type) && type != ElementType::kBF16 ? 'i' : 'u';
  const uint32_t bytes = element_bytes(type);
  std::string dictionary = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({},), }}",
                                       bytes == 1 ? '|' : '<', kind, bytes, content.size() / bytes);
  dictionary.resize((10 + dictionary.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  dictionary += '\n';
  WholeFile file(path);
  const char prefix[] = {'\x93',
                         'N',
                         'U',
                         'M',
                         'P',
                         'Y',
                         1,
                         0,
                         static_cast<char>(dictionary.size() & 0xff),
                         static_cast<char>(dictionary.size() >> 8)};
  file.write({prefix, sizeof prefix});
  file.write(dictionary);
  file.write({reinterpret_cast<const char*>(content.data()), content.size()});
  file.commit();
}

}  // namespace gpusim::core
