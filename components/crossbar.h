// Crossbar network of one direction (requests to partitions, or replies to clusters). Clocked in the interconnect domain.
// Several input links may share one input port (the SMs of a cluster) and several output links one output port. A message of
// n flits holds its input and output port for n cycles; an output port takes its inputs round-robin. Back-pressure: a message
// moves only if its output link has room. Asleep when no message is visible and no port is about to become free.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "simcore/engine/link.h"

namespace gpusim::comp {

template <class Message>
class Crossbar : public core::Clocked {
 public:
  /// `route(message)` is the output link's index, `flits(message)` >= 1 its length.
  Crossbar(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t input_ports, uint32_t output_ports,
           std::function<uint32_t(const Message&)> route, std::function<uint32_t(const Message&)> flits)
      : Clocked(name, domain),
        route_(std::move(route)),
        flits_(std::move(flits)),
        input_free_(input_ports),
        output_free_(output_ports),
        last_input_(output_ports) {}

  void add_input(core::Link<Message>& link, uint32_t port) { inputs_.push_back({&link, port, kNoOutput}); }
  void add_output(core::Link<Message>& link, uint32_t port) { outputs_.push_back({&link, port}); }
  [[nodiscard]] uint64_t flits_moved() const { return flits_moved_; }
  [[nodiscard]] uint64_t messages_moved() const { return messages_moved_; }

  [[nodiscard]] std::string waiting_for() const override {
    uint32_t held = 0;
    for (const Input& in : inputs_) held += in.link->size();
    return held == 0 ? std::string() : std::to_string(held) + " messages waiting to cross";
  }

 protected:
  core::Cycle tick(core::Cycle cycle) override {
    const uint64_t now = cycle.count();
    uint64_t next = core::kNever.count();
    // 1. Look at the head of every input; note for which output port it asks.
    uint64_t wanted_ports = 0;
    for (Input& in : inputs_) {
      in.output = kNoOutput;
      const Message* m = in.link->front();
      if (m == nullptr) {
        next = std::min(next, in.link->next_visible().count());
        continue;
      }
      in.output = route_(*m);
      wanted_ports |= uint64_t{1} << outputs_[in.output].port;
    }
    // 2. Each free output port takes the next input after the one it served last.
    const auto count = static_cast<uint32_t>(inputs_.size());
    for (uint64_t bits = wanted_ports; bits != 0; bits &= bits - 1) {
      const auto port = static_cast<uint32_t>(std::countr_zero(bits));
      if (output_free_[port] > now) {
        next = std::min(next, output_free_[port]);
        continue;
      }
      for (uint32_t step = 1; step <= count; ++step) {
        const uint32_t i = (last_input_[port] + step) % count;
        Input& in = inputs_[i];
        if (in.output == kNoOutput || outputs_[in.output].port != port) continue;
        if (input_free_[in.port] > now) {
          next = std::min(next, input_free_[in.port]);
          continue;
        }
        core::Link<Message>& out = *outputs_[in.output].link;
        if (!out.can_push()) continue;  // the link wakes this module
        Message m = in.link->pop();
        const uint32_t length = flits_(m);
        out.push(std::move(m), length - 1);
        input_free_[in.port] = output_free_[port] = now + length;
        flits_moved_ += length;
        ++messages_moved_;
        last_input_[port] = i;
        in.output = kNoOutput;
        // What stands behind it, here or at this port's other inputs, may move when the port is free again.
        next = std::min(next, now + length);
        break;
      }
    }
    return core::Cycle(std::max(next, now + 1));
  }

 private:
  static constexpr uint32_t kNoOutput = ~0u;
  struct Input {
    core::Link<Message>* link;
    uint32_t port;
    uint32_t output;  ///< wanted by the head in this tick
  };
  struct Output {
    core::Link<Message>* link;
    uint32_t port;
  };
  std::function<uint32_t(const Message&)> route_, flits_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<uint64_t> input_free_, output_free_;
  std::vector<uint32_t> last_input_;
  uint64_t flits_moved_ = 0, messages_moved_ = 0;
};

}  // namespace gpusim::comp
