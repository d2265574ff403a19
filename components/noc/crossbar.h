// Crossbar network of one direction (requests to partitions, or replies to clusters). Clocked in the
// interconnect domain. Several input links may share one input port (the SMs of a cluster) and several output
// links one output port. A message of n flits holds its input and output port for n cycles; an output port
// takes its inputs round-robin, or the oldest message first. Back-pressure: a message moves only if its
// output link has room. Asleep when no message is visible and no port is about to become free.
//
// With several queues behind an input link (virtual output queues), a message is put into that of its output
// port as soon as it is visible, without time; so one that has to wait holds back those to every n-th port
// only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "components/noc/interconnect.h"
#include "simcore/bits.h"
#include "simcore/ring.h"

namespace gpusim::comp {

/// `Route` gives a message's output link (its index), `Flits` its length >= 1.
template <class Message, class Route = std::function<uint32_t(const Message&)>,
          class Flits = std::function<uint32_t(const Message&)>>
class Crossbar : public Interconnect<Message> {
 public:
  Crossbar(const sc_core::sc_module_name& name, core::ClockDomain& domain, uint32_t input_ports,
           uint32_t output_ports, Route route, Flits flits,
           Arbitration arbitration = Arbitration::kRoundRobin, uint32_t queues = 1,
           uint32_t queue_messages = 1)
      : Interconnect<Message>(name, domain, input_ports, output_ports),
        arbitration_(arbitration),
        queues_(std::min(queues, output_ports)),
        queue_messages_(queue_messages),
        route_(std::move(route)),
        flits_(std::move(flits)),
        input_free_(input_ports),
        output_free_(output_ports),
        last_input_(output_ports),
        links_of_port_(output_ports),
        askers_(output_ports),
        asked_((output_ports + 63) / 64) {}

  void add_input(core::Link<Message>& link, uint32_t port) override {
    links_.push_back(&link);
    if (queues_ > 1) {
      for (uint32_t q = 0; q < queues_; ++q) inputs_.push_back({nullptr, port, 0, 0});
      waiting_.resize(inputs_.size(), core::Ring<Waiting>(queue_messages_));
    } else {
      inputs_.push_back({&link, port, 0, 0});
    }
    words_ = (inputs_.size() + 63) / 64;
    known_.assign(words_, 0);
    wanting_.assign(output_free_.size() * words_, 0);
    holding_.assign((links_.size() + 63) / 64, 0);
    head_visible_.assign(links_.size(), core::kNever);
    for (size_t k = 0; k < links_.size(); ++k)
      links_[k]->publish_head(head_visible_[k], holding_[k / 64], uint64_t{1} << (k % 64));
  }
  void add_output(core::Link<Message>& link, uint32_t port) override {
    outputs_.push_back({&link, port});
    ++links_of_port_[port];
  }

  [[nodiscard]] std::string waiting_for() const override {
    uint32_t held = 0;
    for (const core::Link<Message>* link : links_) held += link->size();
    for (const core::Ring<Waiting>& queue : waiting_) held += queue.size();
    return held == 0 ? std::string() : std::to_string(held) + " messages waiting to cross";
  }

 protected:
  core::Cycle tick(core::Cycle cycle) override {
    uint64_t next = queues_ == 1 ? look_at_heads(cycle) : sort_arrivals(cycle);
    // 2. Each free output port takes the next input after the one it served last, or the oldest message.
    const uint64_t now = cycle.count();
    for (uint32_t word = 0; word < asked_.size(); ++word)
      for (uint64_t bits = asked_[word]; bits != 0; bits &= bits - 1) {
        const uint32_t port = word * 64 + core::lowest_bit(bits);
        if (output_free_[port] <= now)
          next = std::min(next,
                          arbitration_ == Arbitration::kOldest ? serve_oldest(port, now) : serve(port, now));
        if (output_free_[port] > now && askers_[port] != 0) next = std::min(next, output_free_[port]);
      }
    return core::Cycle(std::max(next, now + 1));
  }

 private:
  /// A link, or one of the queues behind it.
  struct Input {
    core::Link<Message>* link;  ///< null for a queue
    uint32_t port;
    uint32_t output;  ///< wanted by the head, if it is known
    uint64_t since;   ///< when the head became visible
  };
  struct Output {
    core::Link<Message>* link;
    uint32_t port;
  };
  /// A message of a queue, with the cycle in which it came.
  struct Waiting {
    Message message;
    uint64_t since;
  };
  /// Input `i`, whose head `m` came at `since`, asks for an output port.
  void ask(size_t i, const Message& m, uint64_t since) {
    Input& in = inputs_[i];
    in.output = route_(m);
    in.since = since;
    const uint32_t port = outputs_[in.output].port;
    known_[i / 64] |= uint64_t{1} << (i % 64);
    wanting_[port * words_ + i / 64] |= uint64_t{1} << (i % 64);
    if (askers_[port]++ == 0) asked_[port / 64] |= uint64_t{1} << (port % 64);
  }
  /// The first stage of several queues: takes what is visible from the links into the queue of its output
  /// port, in order, until one is full; returns when the next head becomes visible.
  uint64_t sort_arrivals(core::Cycle now) {
    core::Cycle next = core::kNever;
    for (size_t word = 0; word < holding_.size(); ++word)
      for (uint64_t bits = holding_[word]; bits != 0; bits &= bits - 1) {
        const size_t l = word * 64 + core::lowest_bit(bits);
        while (head_visible_[l] <= now) {
          const size_t i = l * queues_ + outputs_[route_(*links_[l]->front())].port % queues_;
          core::Ring<Waiting>& queue = waiting_[i];
          if (queue.size() == queue_messages_) break;
          const uint64_t since = head_visible_[l].count();
          queue.push({links_[l]->pop(), since});
          if (queue.size() == 1) ask(i, queue.front().message, since);
        }
        if (head_visible_[l] > now) next = std::min(next, head_visible_[l]);
      }
    return next.count();
  }
  /// 1. Notes for which output port each newly visible head asks; returns when the next one becomes visible.
  uint64_t look_at_heads(core::Cycle now) {
    core::Cycle next = core::kNever;
    for (size_t word = 0; word < words_; ++word) {
      for (uint64_t bits = holding_[word] & ~known_[word]; bits != 0; bits &= bits - 1) {
        const size_t i = word * 64 + core::lowest_bit(bits);
        if (head_visible_[i] > now) {
          next = std::min(next, head_visible_[i]);
          continue;
        }
        ask(i, *links_[i]->front(), head_visible_[i].count());
      }
    }
    return next.count();
  }
  /// Moves one message to `port` if one can go; returns when an input of those that could not is free, or the
  /// one that could has its next message.
  uint64_t serve(uint32_t port, uint64_t now) {
    uint64_t next = core::kNever.count();
    const size_t count = inputs_.size();
    const size_t start = last_input_[port] + 1 == count ? 0 : last_input_[port] + 1;
    // From the input after the last one, once around: the start's word is visited twice, its low part last.
    size_t word = start / 64;
    for (size_t step = 0; step <= words_; ++step, word = word + 1 == words_ ? 0 : word + 1) {
      uint64_t bits = wanting_[port * words_ + word];
      const uint64_t from_start = ~uint64_t{0} << (start % 64);
      if (step == 0) bits &= from_start;
      if (step == words_) bits &= ~from_start;
      for (; bits != 0; bits &= bits - 1) {
        const size_t i = word * 64 + core::lowest_bit(bits);
        Input& in = inputs_[i];
        if (input_free_[in.port] > now) {
          next = std::min(next, input_free_[in.port]);
          continue;
        }
        core::Link<Message>& out = *outputs_[in.output].link;
        if (!out.can_push()) {  // the link wakes this module
          if (links_of_port_[port] == 1) return next;
          continue;
        }
        move(i, port, out, now);
        return std::min(next, std::max(head_comes(i, now), input_free_[in.port]));
      }
    }
    return next;
  }
  /// Serves the oldest input of those that can go.
  uint64_t serve_oldest(uint32_t port, uint64_t now) {
    uint64_t next = core::kNever.count();
    size_t oldest = inputs_.size();
    for (size_t word = 0; word < words_; ++word)
      for (uint64_t bits = wanting_[port * words_ + word]; bits != 0; bits &= bits - 1) {
        const size_t i = word * 64 + core::lowest_bit(bits);
        const Input& in = inputs_[i];
        if (input_free_[in.port] > now)
          next = std::min(next, input_free_[in.port]);
        else if ((oldest == inputs_.size() || in.since < inputs_[oldest].since) &&
                 outputs_[in.output].link->can_push())
          oldest = i;
      }
    if (oldest == inputs_.size()) return next;
    const Input& in = inputs_[oldest];
    move(oldest, port, *outputs_[in.output].link, now);
    return std::min(next, std::max(head_comes(oldest, now), input_free_[in.port]));
  }
  /// When the input's next head is there; with several queues `now`, as a place in one has become free.
  [[nodiscard]] uint64_t head_comes(size_t i, uint64_t now) const {
    return queues_ == 1 ? head_visible_[i].count() : now + 1;
  }
  void move(size_t i, uint32_t port, core::Link<Message>& out, uint64_t now) {
    Input& in = inputs_[i];
    Message m = queues_ == 1 ? in.link->pop() : waiting_[i].pop().message;
    const uint32_t length = flits_(m);
    out.push(std::move(m), length - 1);
    input_free_[in.port] = output_free_[port] = now + length;
    this->count_entered(length, in.port);
    this->count_moved(length, port);
    last_input_[port] = static_cast<uint32_t>(i);
    wanting_[port * words_ + i / 64] &= ~(uint64_t{1} << (i % 64));
    known_[i / 64] &= ~(uint64_t{1} << (i % 64));
    if (--askers_[port] == 0) asked_[port / 64] &= ~(uint64_t{1} << (port % 64));
    if (queues_ > 1 && waiting_[i].size() != 0)
      ask(i, waiting_[i].front().message, waiting_[i].front().since);
  }

  Arbitration arbitration_;
  uint32_t queues_;          ///< behind each input link
  uint32_t queue_messages_;  ///< that such a queue holds
  std::vector<core::Link<Message>*> links_;
  std::vector<core::Ring<Waiting>> waiting_;  ///< per input, if there are several queues
  Route route_;
  Flits flits_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<uint64_t> input_free_, output_free_;
  std::vector<uint32_t> last_input_;
  std::vector<uint32_t> links_of_port_;    ///< output links that share the port
  std::vector<uint32_t> askers_;           ///< per output port: inputs whose head asks for it
  std::vector<uint64_t> asked_;            ///< output ports that have any
  std::vector<core::Cycle> head_visible_;  ///< per input link
  size_t words_ = 0;                       ///< 64-bit words of a set of inputs
  std::vector<uint64_t> holding_;          ///< input links that hold a message
  std::vector<uint64_t> known_;            ///< inputs whose head has been entered in wanting_
  std::vector<uint64_t> wanting_;          ///< per output port: inputs whose head asks for it
};

}  // namespace gpusim::comp
