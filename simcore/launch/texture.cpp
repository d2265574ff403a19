#include "simcore/launch/texture.h"

#include <fmt/format.h>

#include <algorithm>

#include "simcore/launch/scope.h"
#include "simcore/text/names.h"

namespace gpusim::core {
namespace {

// CUDA C++ Programming Guide, "Compute Capabilities": the largest of any machine.
constexpr int64_t kMaxLinear = int64_t{1} << 28;
constexpr int64_t kMaxWidth = 131072;
constexpr int64_t kMaxTextureDepth = 16384;
constexpr int64_t kMaxLayers = 2048;

constexpr std::array<std::string_view, 4> kAddressNames{"wrap", "mirror", "clamp", "border"};

bool is_texel_type(ElementType type) {
  switch (type) {
    case ElementType::kU8:
    case ElementType::kS8:
    case ElementType::kU16:
    case ElementType::kS16:
    case ElementType::kU32:
    case ElementType::kS32:
    case ElementType::kF16:
    case ElementType::kF32:
      return true;
    default:
      return false;
  }
}

std::vector<std::string_view> texel_type_names() {
  std::vector<std::string_view> names;
  for (int t = 0; t <= static_cast<int>(ElementType::kF64); ++t)
    if (is_texel_type(static_cast<ElementType>(t)))
      names.push_back(element_type_name(static_cast<ElementType>(t)));
  return names;
}

class TextureReader {
 public:
  TextureReader(const ReadContext& context, const toml::table& table)
      : context_(context),
        reader_(context, table, "[[texture]]",
                {"name", "buffer", "format", "channels", "width", "height", "depth", "layers", "pitch",
                 "filter", "normalized", "address", "read"}) {}

  TextureSpec read() {
    texture_.where = reader_.where();
    read_name();
    buffer_ = reader_.buffer("buffer");
    texture_.buffer = buffer_.value_or(0);
    const bool known = read_format();
    read_channels();
    read_size();
    read_sampling();
    if (known) check_sampling();
    if (known && buffer_) check_bytes();
    return std::move(texture_);
  }

 private:
  void error(std::string_view key, const std::string& message, const std::string& hint = "") {
    context_.messages.error(reader_.where(key), message, hint);
  }

  void read_name() {
    const auto name = reader_.text("name", true);
    if (!name) return;
    texture_.name = *name;
    const LaunchDescription& launch = context_.launch;
    const auto other = std::ranges::find(launch.textures, *name, &TextureSpec::name);
    if (name->empty()) {
      error("name", "the texture's name is empty");
    } else if (other != launch.textures.end()) {
      error("name", fmt::format("texture '{}' is defined twice", *name), "first at " + other->where.text());
    } else if (launch.find_buffer(*name) != nullptr || launch.find_param(*name) != nullptr) {
      error("name", fmt::format("'{}' is a {} as well: arguments would be ambiguous", *name,
                                launch.find_buffer(*name) != nullptr ? "buffer" : "parameter"));
    }
  }

  /// The buffer's type unless `format` says otherwise.
  bool read_format() {
    const auto name = reader_.text("format", false);
    if (!name && reader_.node("format") != nullptr) return false;
    if (!name && !buffer_) return false;
    const auto type =
        name ? element_type_from_name(*name) : std::optional(context_.launch.buffers[*buffer_].type);
    if (type && is_texel_type(*type)) {
      texture_.format = *type;
      return true;
    }
    const std::string hint = name_hint(name.value_or(""), texel_type_names());
    if (name)
      error("format", fmt::format("format = '{}' is not a texture's", *name), hint);
    else
      error("buffer",
            fmt::format("buffer '{}' has type {}, which no texture has",
                        context_.launch.buffers[*buffer_].name, element_type_name(*type)),
            "give the 'format'; " + hint);
    return false;
  }

  void read_channels() {
    texture_.channels = static_cast<uint32_t>(reader_.integer("channels", 1, 1, 4));
    if (texture_.channels == 3) error("channels", "channels = 3 is not possible", "valid: 1, 2, 4");
  }

  uint32_t extent(std::string_view key, int64_t limit) {
    return static_cast<uint32_t>(reader_.integer(key, 1, 1, limit));
  }

  void read_size() {
    const bool height = reader_.node("height") != nullptr, depth = reader_.node("depth") != nullptr;
    texture_.dimensions = depth ? 3 : height ? 2 : 1;
    texture_.array = reader_.node("layers") != nullptr;
    if (depth && !height) error("depth", "'depth' needs a 'height'");
    if (depth && texture_.array) error("layers", "a texture with 'depth' has no layers");
    texture_.size[1] = extent("height", kMaxWidth);
    texture_.size[2] = extent("depth", kMaxTextureDepth);
    texture_.layers = extent("layers", kMaxLayers);
    const bool linear_memory = texture_.dimensions == 1 && !texture_.array;
    const int64_t limit = linear_memory ? kMaxLinear : kMaxWidth;
    if (!linear_memory && reader_.node("width") == nullptr) error("name", "the texture has no 'width'");
    texture_.size[0] = static_cast<uint32_t>(reader_.integer("width", whole_width(limit), 1, limit));
    const auto row = static_cast<int64_t>(uint64_t{texture_.size[0]} * texture_.texel_bytes());
    texture_.pitch = static_cast<uint64_t>(reader_.integer("pitch", row, row, int64_t{1} << 40));
    if (texture_.pitch % texture_.texel_bytes() != 0)
      error("pitch", fmt::format("pitch = {} is not a multiple of the texel's {} bytes", texture_.pitch,
                                 texture_.texel_bytes()));
  }

  /// Texels of a buffer read as one row.
  [[nodiscard]] int64_t whole_width(int64_t limit) const {
    if (!buffer_) return 1;
    const uint64_t texels = context_.launch.buffers[*buffer_].bytes() / texture_.texel_bytes();
    return std::clamp<int64_t>(static_cast<int64_t>(texels), 1, limit);
  }

  void read_sampling() {
    texture_.linear_filter = reader_.choice("filter", {"point", "linear"}) == "linear";
    texture_.normalized = reader_.boolean("normalized", false);
    texture_.normalized_float = reader_.choice("read", {"element", "normalized_float"}) == "normalized_float";
    const toml::node* node = reader_.node("address");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      texture_.address.fill(read_address(*node));
      return;
    }
    if (array->size() != texture_.dimensions) {
      error("address", fmt::format("'address' has {} entries, the texture {} dimension{}", array->size(),
                                   texture_.dimensions, texture_.dimensions == 1 ? "" : "s"));
      return;
    }
    for (size_t i = 0; i < array->size(); ++i) texture_.address[i] = read_address((*array)[i]);
  }

  TextureAddress read_address(const toml::node& node) {
    const auto* text = node.as_string();
    const auto place = text == nullptr ? kAddressNames.end() : std::ranges::find(kAddressNames, text->get());
    if (place != kAddressNames.end()) return static_cast<TextureAddress>(place - kAddressNames.begin());
    const Where where = where_of(node, context_.file);
    if (text == nullptr)
      context_.messages.error(where, "an address mode must be a string", name_hint("", kAddressNames));
    else
      context_.messages.error(where, fmt::format("address = '{}' is not valid", text->get()),
                              name_hint(text->get(), kAddressNames));
    return TextureAddress::kClamp;
  }

  void check_sampling() {
    const bool is_float = element_is_float(texture_.format);
    const std::string_view format = element_type_name(texture_.format);
    if (texture_.normalized_float && (is_float || element_bytes(texture_.format) > 2)) {
      error("read", fmt::format("read = 'normalized_float' is for 8- and 16-bit integers, not {}", format));
    } else if (texture_.linear_filter && !is_float && !texture_.normalized_float) {
      error("filter", fmt::format("filter = 'linear' needs texels that are read as floats, not {}", format),
            "read = 'normalized_float', or a format f16 or f32");
    }
    const bool periodic = std::any_of(
        texture_.address.begin(), texture_.address.begin() + texture_.dimensions,
        [](TextureAddress a) { return a == TextureAddress::kWrap || a == TextureAddress::kMirror; });
    if (periodic && !texture_.normalized)
      context_.messages.warning(reader_.where("address"),
                                "wrap and mirror need normalized coordinates: the texture is clamped");
  }

  void check_bytes() {
    const BufferSpec& buffer = context_.launch.buffers[*buffer_];
    const uint64_t rows = uint64_t{texture_.size[1]} * texture_.size[2] * texture_.layers;
    const uint64_t last = uint64_t{texture_.size[0]} * texture_.texel_bytes();
    const auto needed = static_cast<unsigned __int128>(rows - 1) * texture_.pitch + last;
    if (needed <= buffer.bytes()) return;
    constexpr unsigned __int128 kMost = ~uint64_t{0};
    error("buffer", fmt::format("texture '{}' needs {} bytes, buffer '{}' has {}", texture_.name,
                                static_cast<uint64_t>(std::min(needed, kMost)), buffer.name, buffer.bytes()));
  }

  const ReadContext& context_;
  TableReader reader_;
  TextureSpec texture_;
  std::optional<uint32_t> buffer_;
};

}  // namespace

TextureSpec read_texture(const ReadContext& context, const toml::table& table) {
  return TextureReader(context, table).read();
}

}  // namespace gpusim::core
