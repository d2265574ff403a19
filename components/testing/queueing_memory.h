// An outside memory as another project would bring it: a TLM-2.0 target, approximately timed, that knows
// nothing of this simulator. It accepts a request (END_REQ) when its queue has room, serves all of the queue
// at once for a time that depends on the address, so that later requests overtake earlier ones, and sends one
// response at a time.
#pragma once
#include <tlm_utils/peq_with_get.h>

#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

namespace gpusim::comp::test {

class QueueingMemory : public sc_core::sc_module, public tlm::tlm_fw_transport_if<> {
 public:
  SC_HAS_PROCESS(QueueingMemory);
  /// `queue` >= 1 requests at once; one takes `latency`, times two or four for some addresses.
  QueueingMemory(const sc_core::sc_module_name& name, size_t queue, const sc_core::sc_time& latency)
      : sc_module(name), socket("socket"), queue_(queue), latency_(latency) {
    socket.bind(*this);
    SC_METHOD(on_arrival);
    sensitive << arriving_.get_event();
    dont_initialize();
    SC_METHOD(on_served);
    sensitive << serving_.get_event();
    dont_initialize();
    SC_METHOD(on_end_response);
    sensitive << ending_.get_event();
    dont_initialize();
  }
  tlm::tlm_target_socket<> socket;
  uint64_t accepted = 0, answered = 0, ended = 0;
  uint64_t held_back = 0;  ///< requests that had to wait for END_REQ
  uint64_t overtaken = 0;  ///< responses behind that of a later request
  uint64_t broken = 0;     ///< breaches of the protocol by the initiator

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& t, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) {
      broken += waiting_ != nullptr || t.get_data_length() == 0 || t.get_data_ptr() == nullptr;
      t.acquire();
      arriving_.notify(t, delay);
    } else if (phase == tlm::END_RESP) {
      broken += !responding_;
      ending_.notify(t, delay);
    } else {
      ++broken;
    }
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override { ++broken; }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned int transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

 private:
  struct Served {
    tlm::tlm_generic_payload* payload;
    uint64_t number;
  };
  void on_arrival() {
    while (tlm::tlm_generic_payload* t = arriving_.get_next_transaction()) {
      waiting_ = t;
      held_back += in_queue_ == queue_;
      accept();
    }
  }
  void accept() {
    if (waiting_ == nullptr || in_queue_ == queue_) return;
    tlm::tlm_generic_payload& t = *waiting_;
    waiting_ = nullptr;
    ++in_queue_;
    order_.push_back({&t, accepted++});
    serving_.notify(t, latency_ * static_cast<double>(1u << (t.get_address() / 64 % 3)));
    send(t, tlm::END_REQ);
  }
  void on_served() {
    while (tlm::tlm_generic_payload* t = serving_.get_next_transaction()) served_.push_back(t);
    respond();
  }
  void respond() {
    if (responding_ || served_.empty()) return;
    responding_ = true;
    tlm::tlm_generic_payload& t = *served_.front();
    served_.pop_front();
    const auto at =
        std::find_if(order_.begin(), order_.end(), [&](const Served& s) { return s.payload == &t; });
    overtaken += at->number < last_;
    last_ = std::max(last_, at->number);
    order_.erase(at);
    ++answered;
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    send(t, tlm::BEGIN_RESP);
  }
  void on_end_response() {
    while (tlm::tlm_generic_payload* t = ending_.get_next_transaction()) {
      ++ended;
      --in_queue_;
      responding_ = false;
      t->release();
    }
    accept();
    respond();
  }
  void send(tlm::tlm_generic_payload& t, tlm::tlm_phase phase) {
    sc_core::sc_time delay;
    broken += socket->nb_transport_bw(t, phase, delay) != tlm::TLM_ACCEPTED;
  }

  size_t queue_, in_queue_ = 0;
  sc_core::sc_time latency_;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> arriving_{"arriving"}, serving_{"serving"},
      ending_{"ending"};
  tlm::tlm_generic_payload* waiting_ = nullptr;  ///< the request that has not been accepted
  std::vector<Served> order_;                    ///< in the queue, by arrival
  std::deque<tlm::tlm_generic_payload*> served_;
  bool responding_ = false;
  uint64_t last_ = 0;
};

}  // namespace gpusim::comp::test
