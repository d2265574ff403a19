// What the GPU knows of a network of one direction: links in, links out, and what it has moved. Crossbar and
// Mesh are such networks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "simcore/config/choices.h"
#include "simcore/engine/link.h"

namespace gpusim::comp {

using core::Arbitration;

/// How evenly messages spread over output ports: of every kWindow messages per port that follow one another,
/// those that went to the port with the most. Evenly spread ones give one message of so many as there are
/// ports; if all of a window go to one port, all of them.
class PortBalance {
 public:
  static constexpr uint32_t kWindow = 256;

  explicit PortBalance(uint32_t ports) : in_window_(ports, 0), left_(kWindow * ports) {}
  void add(uint32_t port) {
    most_ = std::max(most_, ++in_window_[port]);
    if (--left_ != 0) return;
    left_ = kWindow * static_cast<uint32_t>(in_window_.size());
    to_busiest_ += most_;
    most_ = 0;
    std::ranges::fill(in_window_, 0u);
  }
  /// With the window that has not ended yet.
  [[nodiscard]] uint64_t to_busiest() const { return to_busiest_ + most_; }

 private:
  std::vector<uint32_t> in_window_;
  uint32_t left_, most_ = 0;
  uint64_t to_busiest_ = 0;
};

template <class Message>
class Interconnect : public core::Clocked {
 public:
  Interconnect(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t output_ports)
      : core::Clocked(name, domain), balance_(output_ports) {}
  /// Every input and output before the first message. Links that share a port take turns.
  virtual void add_input(core::Link<Message>& link, uint32_t port) = 0;
  virtual void add_output(core::Link<Message>& link, uint32_t port) = 0;
  /// That have reached their output link.
  [[nodiscard]] uint64_t flits_moved() const { return flits_moved_; }
  [[nodiscard]] uint64_t messages_moved() const { return messages_moved_; }
  /// Of these messages, those to the output port that is busiest at the time.
  [[nodiscard]] uint64_t messages_to_busiest() const { return balance_.to_busiest(); }

 protected:
  void count_moved(uint32_t flits, uint32_t output_port) {
    flits_moved_ += flits;
    ++messages_moved_;
    balance_.add(output_port);
  }

 private:
  uint64_t flits_moved_ = 0, messages_moved_ = 0;
  PortBalance balance_;
};

}  // namespace gpusim::comp
