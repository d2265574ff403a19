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
  Interconnect(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t input_ports,
               uint32_t output_ports, uint32_t links = 0)
      : core::Clocked(name, domain),
        balance_(output_ports),
        input_flits_(input_ports),
        output_flits_(output_ports),
        link_flits_(links) {}
  /// Every input and output before the first message. Links that share a port take turns.
  virtual void add_input(core::Link<Message>& link, uint32_t port) = 0;
  virtual void add_output(core::Link<Message>& link, uint32_t port) = 0;
  /// That have reached their output link.
  [[nodiscard]] uint64_t flits_moved() const { return flits_moved_; }
  [[nodiscard]] uint64_t messages_moved() const { return messages_moved_; }
  /// Of these messages, those to the output port that is busiest at the time.
  [[nodiscard]] uint64_t messages_to_busiest() const { return balance_.to_busiest(); }
  /// Flits that have passed each port: cycles for which it was busy.
  [[nodiscard]] const std::vector<uint64_t>& input_flits() const { return input_flits_; }
  [[nodiscard]] const std::vector<uint64_t>& output_flits() const { return output_flits_; }
  /// The same of each way between two routers; empty without routers.
  [[nodiscard]] const std::vector<uint64_t>& link_flits() const { return link_flits_; }

 protected:
  void count_moved(uint32_t flits, uint32_t output_port) {
    output_flits_[output_port] += flits;
    flits_moved_ += flits;
    ++messages_moved_;
    balance_.add(output_port);
  }
  void count_entered(uint32_t flits, uint32_t input_port) { input_flits_[input_port] += flits; }
  void count_passed(uint32_t flits, uint32_t link) { link_flits_[link] += flits; }

 private:
  uint64_t flits_moved_ = 0, messages_moved_ = 0;
  PortBalance balance_;
  std::vector<uint64_t> input_flits_, output_flits_, link_flits_;
};

}  // namespace gpusim::comp
