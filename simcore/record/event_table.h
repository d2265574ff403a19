// Tables of events. One is declared once, as a struct: its place in the file, the level that records it, and
// for each column type, name, unit and meaning. What the file says about it follows from that, for example
// of this one, whose columns a macro lists, each as COLUMN(type, name, unit, meaning):
//
//   struct DramEvent {
//     GPUSIM_EVENT(DramEvent, "events/dram", "DRAM commands", EventLevel::kMemory, GPUSIM_DRAM_EVENT)
//   };
//
// An event is made with all its columns, by name and in their order; anything else does not compile:
//
//   table->append({.cycle = now, .command = DramCommand::kRead});
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace gpusim::core {

enum class EventLevel : uint8_t { kOff, kSummary, kMemory, kAll };
enum class ColumnType : uint8_t { kU8, kU16, kU32, kU64, kI64, kF64, kString };

/// One column of a recorded table; `offset` in the record (kString columns exist only in cell tables).
struct Column {
  std::string name;
  ColumnType type = ColumnType::kU64;
  uint32_t offset = 0;
  std::string unit;
  std::string meaning;
};
struct TableSchema {
  std::string path;  ///< below the kernel group: "events/memory"
  std::string meaning;
  uint32_t record_bytes = 0;
  std::vector<Column> columns;
};

#pragma pack(push, 1)  // the file has no gaps between columns
/// The value of a column, which has no value of its own accord. A number is cut to the column's width; an
/// enumerator goes only into a column of its enumeration.
template <class T>
class EventColumn {
 public:
  template <class V>
  requires std::is_same_v<V, T> ||
      (std::is_arithmetic_v<V>&& std::is_arithmetic_v<T>)constexpr EventColumn(V value)
      : value_(static_cast<T>(value)) {}
  constexpr operator T() const { return value_; }

 private:
  T value_;
};
#pragma pack(pop)

/// First member of an event: values without the names of their columns would have to begin with one of these.
struct ColumnsByName {
  constexpr ColumnsByName() {}
};

/// What the file calls values of type T; enumerators are their numbers.
template <class T>
constexpr ColumnType column_type() {
  if constexpr (std::is_floating_point_v<T>) return ColumnType::kF64;
  if constexpr (sizeof(T) == 1) return ColumnType::kU8;
  if constexpr (sizeof(T) == 2) return ColumnType::kU16;
  if constexpr (sizeof(T) == 4) return ColumnType::kU32;
  return ColumnType::kU64;
}

class RowBuffer;

/// Where full buffers go: takes the rows and gives the buffer room again.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void take(RowBuffer& rows) = 0;
};

/// Rows of a table that are on their way to the file.
class RowBuffer {
 public:
  RowBuffer() = default;
  virtual ~RowBuffer() = default;
  RowBuffer(const RowBuffer&) = delete;
  RowBuffer& operator=(const RowBuffer&) = delete;

  /// The next rows go here. `room` holds a whole number of rows and is not empty.
  void use(RowSink& sink, std::byte* room, size_t bytes) {
    sink_ = &sink;
    cursor_ = room;
    end_ = room + bytes;
  }
  /// End of the rows in the room that was given last.
  [[nodiscard]] const std::byte* cursor() const { return cursor_; }

 protected:
  template <class Row>
  void append_row(const Row& row) {
    __builtin_memcpy(cursor_, &row, sizeof row);
    cursor_ += sizeof row;
    if (cursor_ == end_) sink_->take(*this);
  }

 private:
  std::byte* cursor_ = nullptr;
  std::byte* end_ = nullptr;
  RowSink* sink_ = nullptr;
};

/// Append-only table of one kind of event. append() costs a copy into a buffer.
template <class Event>
class EventTable : public RowBuffer {
 public:
  static_assert(std::is_trivially_copyable_v<Event>);
  void append(const Event& event) { append_row(event); }
};

/// The table of these events, as the file describes it.
template <class Event>
[[nodiscard]] const TableSchema& schema_of() {
  static const TableSchema schema = Event::make_schema();
  return schema;
}

}  // namespace gpusim::core

// NOLINTBEGIN(bugprone-macro-parentheses): these declare members and list values.
#define GPUSIM_EVENT_MEMBER(type, name, unit, meaning) ::gpusim::core::EventColumn<type> name;
#define GPUSIM_EVENT_COLUMN(type, name, unit, meaning) \
  {#name, ::gpusim::core::column_type<type>(), offsetof(Self, name), unit, meaning},
// NOLINTEND(bugprone-macro-parentheses)
/// In struct `Struct`: a member for each COLUMN of LIST, and what the file says about the table.
#define GPUSIM_EVENT(Struct, path, meaning, level, LIST)               \
  [[no_unique_address]] ::gpusim::core::ColumnsByName by_name{};       \
  LIST(GPUSIM_EVENT_MEMBER)                                            \
  static constexpr ::gpusim::core::EventLevel kLevel = level;          \
  static ::gpusim::core::TableSchema make_schema() {                   \
    using Self = Struct;                                               \
    static_assert(alignof(Self) == 1);                                 \
    return {path, meaning, sizeof(Self), {LIST(GPUSIM_EVENT_COLUMN)}}; \
  }
