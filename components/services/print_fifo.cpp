#include "components/services/print_fifo.h"

#include <cstring>

namespace gpusim::comp {

void PrintFifo::set_capacity(uint64_t bytes) {
  capacity_ = bytes;
  make_room();
}

const PrintFormat& PrintFifo::format(std::string_view text) {
  const auto [at, is_new] = numbers_.try_emplace(std::string(text), formats_.size());
  if (is_new) number_of_.emplace(&formats_.emplace_back(text), at->second);
  return formats_[at->second];
}

void PrintFifo::push(const PrintFormat& format, const std::vector<PrintValue>& values) {
  const size_t start = words_.size();
  words_.push_back(0);
  words_.push_back(number_of_.at(&format));
  for (size_t i = 0; i < values.size(); ++i) {
    if (format.arguments()[i] != PrintArgument::kString) {
      words_.push_back(values[i].bits);
      continue;
    }
    std::string_view text = values[i].text;
    words_.push_back(text.size());
    for (; !text.empty(); text.remove_prefix(std::min<size_t>(text.size(), sizeof(uint64_t)))) {
      uint64_t word = 0;
      std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
      words_.push_back(word);
    }
  }
  words_[start] = words_.size() - start;
  make_room();
}

void PrintFifo::make_room() {
  while (words_.size() * sizeof(uint64_t) > capacity_) drop_oldest();
}

void PrintFifo::drop_oldest() {
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(words_.front()));
  ++lost_;
}

void PrintFifo::flush(const Sink& sink) {
  constexpr size_t kChunk = size_t{1} << 16;
  std::string text;
  std::vector<std::string> strings;
  std::vector<PrintValue> values;
  for (size_t at = 0; at < words_.size();) {
    const size_t end = at + words_[at];
    const PrintFormat& format = formats_[words_[at + 1]];
    at += kHeaderWords;
    values.clear();
    strings.clear();
    strings.reserve(format.arguments().size());  // values refer to them
    for (const PrintArgument argument : format.arguments()) {
      const uint64_t word = words_[at++];
      if (argument != PrintArgument::kString) {
        values.push_back({word, {}});
        continue;
      }
      std::string& s = strings.emplace_back(word, '\0');
      for (size_t i = 0; i < s.size(); i += sizeof(uint64_t)) {
        const uint64_t piece = words_[at++];
        std::memcpy(s.data() + i, &piece, std::min(s.size() - i, sizeof piece));
      }
      values.push_back({0, s});
    }
    format.print(values, text);
    at = end;
    if (text.size() < kChunk) continue;
    if (sink) sink(text);
    text.clear();
  }
  if (!text.empty() && sink) sink(text);
  clear();
}

void PrintFifo::clear() {
  words_.clear();
  numbers_.clear();
  number_of_.clear();
  formats_.clear();
  lost_ = 0;
}

}  // namespace gpusim::comp
