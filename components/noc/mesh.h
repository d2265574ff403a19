// Mesh network of one direction (requests to partitions, or replies to clusters): routers with bounded input
// queues, joined as a MeshGraph says. Clocked in the interconnect domain. A message of n flits holds the port
// that it leaves and the one that it takes for n cycles; its head goes on as soon as it has come (virtual
// cut-through) and is in the next router `hop_cycles` later. It moves only if that router's queue, or its
// output link, has room for all of it; its own place in a queue is free when its last flit has left. Messages
// from one input link to one output link take the same way and stay in order. One module for all routers:
// what moves at one cycle is seen by the next router in a later one, so their order does not matter. Asleep
// when no head can move; then a message, a link or a port that becomes free wakes it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "components/noc/interconnect.h"
#include "components/noc/mesh_graph.h"
#include "simcore/bits.h"
#include "simcore/ring.h"

namespace gpusim::comp {

struct MeshOptions {
  uint64_t hop_cycles = 1;  ///< from router to router
  uint32_t queue = 1;       ///< messages in a router's queue from one neighbour
  Arbitration arbitration = Arbitration::kRoundRobin;
};

/// `Route` gives a message's output link (its index), `Flits` its length >= 1.
template <class Message, class Route, class Flits>
class Mesh : public Interconnect<Message> {
 public:
  /// Port p of the inputs is at router input_routers[p], of the outputs at output_routers[p].
  Mesh(const sc_core::sc_module_name& name, core::ClockDomain& domain, std::shared_ptr<const MeshGraph> graph,
       std::vector<uint32_t> input_routers, std::vector<uint32_t> output_routers, const MeshOptions& options,
       Route route, Flits flits)
      : Interconnect<Message>(name, domain, static_cast<uint32_t>(input_routers.size()),
                              static_cast<uint32_t>(output_routers.size()),
                              graph->routers() * MeshGraph::kDirections),
        graph_(std::move(graph)),
        options_(options),
        input_routers_(std::move(input_routers)),
        output_routers_(std::move(output_routers)),
        route_(std::move(route)),
        flits_(std::move(flits)),
        port_free_(input_routers_.size()),
        routers_(graph_->routers()),
        busy_((graph_->routers() + 63) / 64) {
    for (Router& r : routers_) {
      r.sinks.resize(MeshGraph::kDirections);
      for (Queue& q : r.queues) {
        q.held = core::Ring<Packet>(options_.queue);
        q.leaving = core::Ring<uint64_t>(options_.queue);
      }
    }
    for (uint32_t p = 0; p < output_routers_.size(); ++p) {
      ejector_.push_back(static_cast<uint32_t>(routers_[output_routers_[p]].sinks.size()));
      routers_[output_routers_[p]].sinks.emplace_back();
    }
  }

  void add_input(core::Link<Message>& link, uint32_t port) override {
    const size_t i = inputs_.size();
    inputs_.push_back({&link, port, {}, false});
    routers_[input_routers_[port]].inputs.push_back(static_cast<uint32_t>(i));
    holding_.assign(i / 64 + 1, 0);
    head_visible_.assign(inputs_.size(), core::kNever);
    for (size_t k = 0; k < inputs_.size(); ++k)
      inputs_[k].link->publish_head(head_visible_[k], holding_[k / 64], uint64_t{1} << (k % 64));
  }
  void add_output(core::Link<Message>& link, uint32_t port) override { outputs_.push_back({&link, port}); }

  [[nodiscard]] std::string waiting_for() const override {
    uint64_t held = 0;
    for (const Input& in : inputs_) held += in.link->size();
    for (const Router& r : routers_) held += r.held;
    return held == 0 ? std::string() : std::to_string(held) + " messages waiting to cross";
  }

 protected:
  core::Cycle tick(core::Cycle cycle) override {
    now_ = cycle.count();
    next_ = core::kNever.count();
    // Routers with a message in a queue, or in a link that leads to them.
    std::vector<uint64_t>& active = active_;
    active = busy_;
    for (size_t word = 0; word < holding_.size(); ++word)
      for (uint64_t bits = holding_[word]; bits != 0; bits &= bits - 1) {
        const uint32_t r = input_routers_[inputs_[word * 64 + core::lowest_bit(bits)].port];
        active[r / 64] |= uint64_t{1} << (r % 64);
      }
    for (size_t word = 0; word < active.size(); ++word)
      for (uint64_t bits = active[word]; bits != 0; bits &= bits - 1)
        serve(static_cast<uint32_t>(word * 64 + core::lowest_bit(bits)));
    return next_ == core::kNever.count() ? core::kNever : core::Cycle(std::max(next_, now_ + 1));
  }

 private:
  /// What is known of a message at the head of a queue or an input link.
  struct Head {
    uint32_t output = 0;  ///< link
    uint32_t sink = 0;    ///< of its router
    uint64_t born = 0;    ///< when it entered the network
    uint64_t ready = 0;   ///< when it may go on
  };
  struct Packet {
    Message message;
    Head head;
  };
  struct Queue {
    core::Ring<Packet> held{1};
    core::Ring<uint64_t> leaving{1};  ///< when the last flits of those that went on leave
    uint64_t free = 0;                ///< its read port
  };
  struct Input {
    core::Link<Message>* link;
    uint32_t port;
    Head head;
    bool known;  ///< the head has been looked at
  };
  struct Output {
    core::Link<Message>* link;
    uint32_t port;
  };
  /// A way out of a router: to a neighbour, or to an output port.
  struct Sink {
    uint64_t free = 0;
    uint32_t last = 0;        ///< source that it took last
    uint32_t best = kNobody;  ///< of this cycle
    uint64_t rank = 0;        ///< of that; less goes first
  };
  struct Router {
    std::array<Queue, MeshGraph::kDirections> queues;  ///< by the direction in which their neighbour lies
    std::vector<uint32_t> inputs;
    std::vector<Sink> sinks;  ///< directions, then output ports
    uint32_t held = 0;        ///< messages in queues
  };
  static constexpr uint32_t kNobody = ~0u;

  void wake(uint64_t at) { next_ = std::min(next_, at); }

  /// 1. Each way out of the router chooses among the heads that want it, 2. takes the chosen one.
  void serve(uint32_t r) {
    Router& router = routers_[r];
    const auto sources = static_cast<uint32_t>(MeshGraph::kDirections + router.inputs.size());
    for (uint32_t s = 0; s < sources; ++s) {
      const Head* head = head_of(router, r, s);
      if (head == nullptr) continue;
      Sink& sink = router.sinks[head->sink];
      const uint64_t free = std::max({head->ready, free_of(router, s), sink.free});
      if (free > now_) {
        wake(free);
        continue;
      }
      if (!has_room(r, *head)) continue;
      const uint64_t turn = (s + sources - sink.last - 1) % sources;
      const uint64_t rank = options_.arbitration == Arbitration::kOldest ? head->born : turn;
      if (sink.best != kNobody && sink.rank <= rank) continue;
      sink.best = s;
      sink.rank = rank;
    }
    for (Sink& sink : router.sinks) {
      if (sink.best == kNobody) continue;
      const uint32_t s = std::exchange(sink.best, kNobody);
      // Two links of one port may have been chosen.
      if (uint64_t& free = free_of(router, s); free > now_)
        wake(free);
      else
        move(router, r, s, sink);
    }
  }
  [[nodiscard]] const Head* head_of(Router& router, uint32_t r, uint32_t s) {
    if (s < MeshGraph::kDirections)
      return router.queues[s].held.size() == 0 ? nullptr : &router.queues[s].held.front().head;
    const uint32_t i = router.inputs[s - MeshGraph::kDirections];
    Input& in = inputs_[i];
    if (!in.known) {
      if (head_visible_[i].count() > now_) {
        wake(head_visible_[i].count());
        return nullptr;
      }
      const uint64_t visible = head_visible_[i].count();
      in.head.output = route_(*in.link->front());
      in.head.sink = sink_of(r, in.head.output);
      in.head.born = in.head.ready = visible;
      in.known = true;
    }
    return &in.head;
  }
  [[nodiscard]] uint64_t& free_of(Router& router, uint32_t s) {
    return s < MeshGraph::kDirections ? router.queues[s].free
                                      : port_free_[inputs_[router.inputs[s - MeshGraph::kDirections]].port];
  }
  [[nodiscard]] uint32_t sink_of(uint32_t r, uint32_t output) const {
    const uint32_t port = outputs_[output].port;
    return output_routers_[port] == r ? ejector_[port] : graph_->next(r, output_routers_[port]);
  }
  /// The queue at the other end of a way to a neighbour.
  [[nodiscard]] Queue& queue_behind(uint32_t r, uint32_t direction) {
    return routers_[graph_->neighbour(r, direction)].queues[direction ^ 1];
  }
  [[nodiscard]] bool has_room(uint32_t r, const Head& head) {
    if (head.sink >= MeshGraph::kDirections) return outputs_[head.output].link->can_push();
    Queue& q = queue_behind(r, head.sink);
    while (q.leaving.size() != 0 && q.leaving.front() <= now_) q.leaving.pop();
    if (q.held.size() + q.leaving.size() < options_.queue) return true;
    if (q.leaving.size() != 0) wake(q.leaving.front());
    return false;
  }
  void move(Router& router, uint32_t r, uint32_t s, Sink& sink) {
    const bool queued = s < MeshGraph::kDirections;
    Packet packet =
        queued ? router.queues[s].held.pop() : leave_link(router.inputs[s - MeshGraph::kDirections]);
    const uint32_t length = flits_(packet.message);
    if (!queued) this->count_entered(length, inputs_[router.inputs[s - MeshGraph::kDirections]].port);
    const uint64_t gone = now_ + length;
    free_of(router, s) = sink.free = gone;
    sink.last = s;
    if (queued) {
      router.queues[s].leaving.push(gone);
      if (--router.held == 0) busy_[r / 64] &= ~(uint64_t{1} << (r % 64));
    }
    wake(gone);  // for the next head, and for the one that waits for this place
    if (packet.head.sink >= MeshGraph::kDirections) {
      outputs_[packet.head.output].link->push(std::move(packet.message), length - 1);
      this->count_moved(length, outputs_[packet.head.output].port);
      return;
    }
    this->count_passed(length, r * MeshGraph::kDirections + packet.head.sink);
    const uint32_t other = graph_->neighbour(r, packet.head.sink);
    Queue& q = queue_behind(r, packet.head.sink);
    packet.head.sink = sink_of(other, packet.head.output);
    packet.head.ready = now_ + options_.hop_cycles;
    wake(packet.head.ready);
    q.held.push(std::move(packet));
    ++routers_[other].held;
    busy_[other / 64] |= uint64_t{1} << (other % 64);
  }
  Packet leave_link(uint32_t i) {
    Input& in = inputs_[i];
    in.known = false;
    Packet packet{in.link->pop(), in.head};
    wake(head_visible_[i].count());
    return packet;
  }

  std::shared_ptr<const MeshGraph> graph_;
  MeshOptions options_;
  std::vector<uint32_t> input_routers_, output_routers_;
  Route route_;
  Flits flits_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<uint64_t> port_free_;  ///< of the inputs
  std::vector<uint32_t> ejector_;    ///< per output port: its sink
  std::vector<Router> routers_;
  std::vector<core::Cycle> head_visible_;  ///< per input link
  std::vector<uint64_t> holding_;          ///< input links that hold a message
  std::vector<uint64_t> busy_;             ///< routers with a message in a queue
  std::vector<uint64_t> active_;           ///< of this cycle
  uint64_t now_ = 0, next_ = 0;
};

}  // namespace gpusim::comp
