#include "components/simulation/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "components/launch/occupancy_limits.h"

namespace gpusim::comp {

Gpu::Gpu(core::Engine& engine, const core::MachineConfig& machine, const isa::GlobalMemory& memory,
         uint32_t sms, std::function<void(ProgramError)> on_error, bool run_ahead, Checker* checker,
         AttachMemory attach, const HostRanges* host_memory)
    : machine_(machine),
      memory_(memory),
      core_("core", engine, static_cast<uint64_t>(machine.clocks.core_khz)),
      interconnect_("interconnect", engine, static_cast<uint64_t>(machine.clocks.interconnect_khz)),
      dram_("dram", engine, static_cast<uint64_t>(machine.clocks.dram_khz)) {
  if (machine.clocks.latencies_follow)
    for (core::ClockDomain* domain : {&core_, &interconnect_, &dram_}) domain->keep_latencies();
  run_ahead_ = run_ahead;
  checker_ = checker;
  attach_ = std::move(attach);
  on_error_ = [&engine, report = std::move(on_error)](ProgramError error) {
    engine.stop();
    report(std::move(error));
  };
  std::string problem;
  timing_ = build_timing(machine, problem);
  if (!problem.empty()) throw std::invalid_argument(problem);
  const uint32_t per_cluster = machine.gpu.sms_per_cluster;
  num_sms_ = machine.gpu.sms;
  clusters_ = (num_sms_ + per_cluster - 1) / per_cluster;
  build_memory();
  if (host_memory != nullptr) build_host_link(*host_memory);
  build_sms(used_sms(machine, std::min(sms, num_sms_)), memory);
}

void Gpu::build_memory() {
  const auto& net = machine_.interconnect;
  const auto partitions = static_cast<uint32_t>(machine_.l2.partitions);
  Networks networks = make_networks(interconnect_, machine_);
  requests_ = std::move(networks.requests);
  replies_ = std::move(networks.replies);
  const auto queue = static_cast<uint32_t>(net.queue);
  for (uint32_t p = 0; p < partitions; ++p) {
    partitions_.push_back(
        make_partition(fmt::format("partition{}", p).c_str(), interconnect_, machine_, p, &events_));
    MemoryPartition& partition = *partitions_.back();
    partition.set_core(core_);
    auto& in =
        timed_link(request_links_, *requests_, partition, interconnect_, queue, net.request_latency_ns);
    auto& out = link(reply_links_, partition, *replies_, queue);
    requests_->add_output(in, p);
    replies_->add_input(out, p);
    partition.connect(in, out);
    for (uint32_t more = 1; more < net.reply_queues; ++more) {
      auto& further = link(reply_links_, partition, *replies_, queue);
      replies_->add_input(further, p);
      partition.add_reply_link(further);
    }
    for (int64_t c = 0; c < machine_.dram.channels; ++c) build_channel(partition);
  }
}

void Gpu::build_channel(MemoryPartition& partition) {
  const uint32_t number = num_channels();
  const std::string name = fmt::format("dram{}", number);
  if (attach_) {
    outside_.push_back(
        std::make_unique<TlmMemory>(name.c_str(), dram_, machine_, number,
                                    [this](std::string message) { on_error_({std::move(message)}); }));
    attach_(*outside_.back());
    connect_channel(partition, *outside_.back());
  } else {
    channels_.push_back(std::make_unique<DramChannel>(name.c_str(), dram_, machine_, number, &events_));
    connect_channel(partition, *channels_.back());
  }
}

void Gpu::build_host_link(const HostRanges& host_memory) {
  constexpr uint32_t kQueue = 8;
  host_ = std::make_unique<HostLink>("host_link", interconnect_, machine_);
  for (const auto& partition : partitions_) {
    auto& to = link(request_links_, *partition, *host_, kQueue);
    auto& from = link(reply_links_, *host_, *partition, kQueue);
    partition->connect_host(host_memory, to, from);
    host_->connect(to, from);
  }
}

template <class Channel>
void Gpu::connect_channel(MemoryPartition& partition, Channel& channel) {
  auto& to = timed_link(request_links_, partition, channel, interconnect_,
                        static_cast<uint32_t>(machine_.l2.queue), machine_.l2.latency_ns);
  auto& from = timed_link(reply_links_, channel, partition, dram_,
                          static_cast<uint32_t>(machine_.dram.reply_queue), machine_.dram.latency_ns);
  partition.connect_channel(to, from);
  channel.connect(to, from);
}

void Gpu::build_tlbs() {
  if (machine_.tlb.l1_entries == 0) return;
  const bool of_gpu = machine_.tlb.l2_scope == core::TlbScope::kGpu;
  const uint32_t per_cluster = machine_.gpu.sms_per_cluster;
  for (uint32_t i = 0; i < (of_gpu ? 1 : clusters_); ++i)
    tlbs_.push_back(std::make_unique<SharedTlb>(fmt::format("tlb{}", i).c_str(), core_, machine_.tlb,
                                                of_gpu ? num_sms_ : per_cluster));
}

void Gpu::connect_tlb(uint32_t number, Sm& sm, LoadStoreUnit::Links& links) {
  if (tlbs_.empty()) return;
  const uint32_t per_cluster = machine_.gpu.sms_per_cluster;
  const auto misses = static_cast<uint32_t>(machine_.tlb.l1_misses);
  SharedTlb& tlb = *tlbs_[tlbs_.size() == 1 ? 0 : number / per_cluster];
  links.tlb.ask = &link(page_links_, sm, tlb, misses);
  links.tlb.page = &link(page_links_, tlb, sm, misses);
  tlb.connect_sm(*links.tlb.ask, *links.tlb.page);
}

void Gpu::build_textures() {
  if (machine_.texture.cache != core::TextureCache::kOwn) return;
  const uint32_t count = machine_.texture.scope == core::TextureScope::kCluster ? clusters_ : num_sms_;
  for (uint32_t i = 0; i < count; ++i) {
    textures_.push_back(std::make_unique<ClusterCache>(fmt::format("texture{}", i).c_str(), core_,
                                                       texture_shape(machine_),
                                                       static_cast<uint16_t>(num_sms_ + clusters_ + i)));
    textures_[i]->set_events(&events_, i);
  }
}

void Gpu::connect_texture(uint32_t number, Sm& sm, LoadStoreUnit::Links& links) {
  if (textures_.empty()) return;
  const uint32_t per_cluster = machine_.gpu.sms_per_cluster;
  ClusterCache& cache = *textures_[textures_.size() == num_sms_ ? number : number / per_cluster];
  const auto fetches = static_cast<uint32_t>(machine_.texture.fetches);
  links.texture.request = &link(request_links_, sm, cache, 8u);
  links.texture.reply = &link(reply_links_, cache, sm, fetches);
  cache.connect_sm(*links.texture.request, *links.texture.reply);
}

void Gpu::connect_fetch(uint32_t number, Sm& sm) {
  if (machine_.instruction.l1_bytes == 0) return;
  ClusterCache& cache = *constants_[number / machine_.gpu.sms_per_cluster];
  const uint32_t lines = machine_.instruction.mshrs;
  const uint64_t latency = core_.latency_cycles(machine_.constant.l2_latency_ns);
  InstructionFetch::Links links;
  links.request = &link(request_links_, sm, cache, lines);
  links.reply = &link(reply_links_, cache, sm, lines + static_cast<uint32_t>(latency));
  cache.connect_sm(*links.request, *links.reply);
  sm.connect_fetch(links);
}

void Gpu::connect_to_network(ClusterCache& cache, uint32_t port) {
  const auto queue = static_cast<uint32_t>(machine_.interconnect.queue);
  auto& out = link(request_links_, cache, *requests_, queue);
  auto& in = timed_link(reply_links_, *replies_, cache, interconnect_, queue,
                        machine_.interconnect.reply_latency_ns);
  requests_->add_input(out, port);
  replies_->add_output(in, port);
  cache.connect_network(out, in);
}

bool Gpu::nobody_moves() const {
  // Whatever a warp wrote before it began to wait has long been seen by all after this.
  constexpr uint64_t kQuietCycles = 100'000;
  uint64_t since = 0, until = ~uint64_t{0};
  if (!dispatcher_->nothing_to_come()) return false;
  for (const auto& sm : sms_)
    if (!sm->all_wait(since, until)) return false;
  return until - since >= kQuietCycles;
}

void Gpu::build_sms(const std::vector<uint32_t>& numbers, const isa::GlobalMemory& memory) {
  const auto& net = machine_.interconnect;
  const auto queue = static_cast<uint32_t>(net.queue);
  const uint32_t per_cluster = machine_.gpu.sms_per_cluster, per_port = core::sms_per_port(machine_);
  const auto constant_mshrs = static_cast<uint32_t>(machine_.constant.mshrs);
  const uint64_t l2_latency = core_.latency_cycles(machine_.constant.l2_latency_ns);
  const uint64_t start_cycles = machine_.gpu.block_start_cycles;
  SmEnvironment environment;
  environment.machine = &machine_;
  environment.timing = &timing_;
  environment.memory = &memory;
  environment.events = &events_;
  environment.arena = &arena_;
  environment.access = &access_;
  environment.num_sms = num_sms_;
  environment.run_ahead = run_ahead_;
  environment.local_memory_base = uint64_t{1} << 40;
  environment.first_start = [this](uint32_t sm, uint64_t now) { return dispatcher_->first_start(sm, now); };
  environment.on_error = on_error_;
  environment.nobody_moves = [this] { return nobody_moves(); };
  environment.checker = checker_;
  shared_ports_.assign(num_sms_, 0);
  environment.shared_ports = &shared_ports_;
  sm_of_.assign(num_sms_, nullptr);
  environment.cluster_opened = [this](const Cluster& cluster, uint64_t cycle) {
    for (uint32_t rank = 0; rank < cluster.blocks(); ++rank)
      if (cluster.runs(rank))
        sm_of_[cluster.places[rank].sm]->open_cluster(cluster, cluster.places[rank].block_slot, cycle);
  };
  for (uint32_t c = 0; c < clusters_; ++c)
    constants_.push_back(std::make_unique<ClusterCache>(fmt::format("constant{}", c).c_str(), core_,
                                                        constant_shape(machine_, core_),
                                                        static_cast<uint16_t>(num_sms_ + c)));
  for (uint32_t c = 0; c < clusters_; ++c) constants_[c]->set_events(&events_, c);
  dispatcher_ = std::make_unique<BlockDispatcher>("dispatcher", core_, dispatch_rules(machine_, core_));
  build_tlbs();
  build_textures();
  // The reply crossbar's outputs: one link per SM number (unused SMs included, so that a port is an SM
  // number), then one per cluster, then one per texture cache.
  std::vector<core::Link<MemoryReply>*> reply_of(num_sms_, nullptr);
  std::vector<core::Link<BlockStart>*> start_of(num_sms_, nullptr);
  std::vector<core::Link<SmReport>*> report_of(num_sms_, nullptr);
  for (const uint32_t n : numbers) {
    sms_.push_back(std::make_unique<Sm>(fmt::format("sm{}", n).c_str(), core_, n, environment));
    Sm& sm = *sms_.back();
    sm_of_[n] = &sm;
    ClusterCache& constant = *constants_[n / per_cluster];
    LoadStoreUnit::Links links;
    links.request = &link(request_links_, sm, *requests_, queue);
    links.reply = reply_of[n] =
        &timed_link(reply_links_, *replies_, sm, interconnect_, queue, net.reply_latency_ns);
    links.constant_request = &link(request_links_, sm, constant, constant_mshrs);
    links.constant_reply =
        &link(reply_links_, constant, sm, constant_mshrs + static_cast<uint32_t>(l2_latency));
    connect_tlb(n, sm, links);
    connect_texture(n, sm, links);
    requests_->add_input(*links.request, n / per_port);
    constant.connect_sm(*links.constant_request, *links.constant_reply);
    // The blocks of a cluster start in one cycle, also those of one SM.
    const bool clusters = machine_.clusters.gpcs != 0;
    const auto starts = std::max(8u + static_cast<uint32_t>(start_cycles), clusters ? kMaxWarps : 0u);
    start_of[n] = &link(start_links_, *dispatcher_, sm, starts, start_cycles,
                        clusters ? machine_.clusters.most_blocks : 1u);
    report_of[n] = &link(report_links_, sm, *dispatcher_, 8u);
    sm.connect(links, *start_of[n], *report_of[n]);
    connect_fetch(n, sm);
  }
  const uint32_t fallback = numbers.front();
  for (uint32_t n = 0; n < num_sms_; ++n)
    replies_->add_output(*(reply_of[n] != nullptr ? reply_of[n] : reply_of[fallback]), n / per_port);
  for (uint32_t c = 0; c < clusters_; ++c) connect_to_network(*constants_[c], c * per_cluster / per_port);
  for (uint32_t i = 0; i < textures_.size(); ++i)
    connect_to_network(*textures_[i], (textures_.size() == num_sms_ ? i : i * per_cluster) / per_port);
  // Blocks go to the clusters in turn, so that neighbours do not share a cluster's port before all clusters
  // work.
  for (uint32_t k = 0; k < per_cluster; ++k)
    for (uint32_t c = 0; c < clusters_; ++c) {
      const uint32_t n = c * per_cluster + k;
      if (n < num_sms_ && start_of[n] != nullptr)
        dispatcher_->connect_sm(n, *start_of[n], *report_of[n],
                                machine_.clusters.gpcs == 0 ? 0 : gpc_of(machine_, n));
    }
}

DramStats Gpu::dram_stats() const {
  DramStats sum;
  for (const auto& c : channels_) core::add(sum, c->stats());
  for (const auto& m : outside_) core::add(sum, m->stats());
  return sum;
}

MachineStats Gpu::stats() const {
  MachineStats sum;
  sum.dram = dram_stats();
  if (machine_.l2.bytes != 0)
    for (const auto& p : partitions_) core::add(sum.l2, *p->l2_stats());
  if (machine_.tlb.l1_entries != 0)
    for (const auto& sm : sms_) core::add(sum.sm_tlb, *sm->tlb_stats());
  for (const auto& t : tlbs_) core::add(sum.tlb, t->stats());
  sum.texture = texture_stats();
  sum.noc.request_flits = requests_->flits_moved();
  sum.noc.reply_flits = replies_->flits_moved();
  sum.noc.requests = requests_->messages_moved();
  sum.noc.requests_to_busiest = requests_->messages_to_busiest();
  if (host_ != nullptr) sum.sysmem = host_->stats();
  return sum;
}

TextureStats Gpu::texture_stats() const {
  TextureStats sum;
  const uint64_t sectors = static_cast<uint64_t>(machine_.texture.l1_line) / 32;
  for (const auto& t : textures_) {
    const ClusterCacheStats& s = t->stats();
    sum.hits += s.hits, sum.misses += s.misses, sum.fill_sectors += s.fills * sectors;
  }
  if (!has_texture_l2(machine_)) return sum;
  for (const auto& p : partitions_)
    sum.l2_hits += p->texture_stats().hits, sum.l2_misses += p->texture_stats().misses;
  return sum;
}

uint64_t Gpu::cluster_constant_lines() const {
  uint64_t lines = 0;
  for (const auto& c : constants_) lines += c->stats().hits + c->stats().misses;
  return lines;
}

uint64_t Gpu::partition_constant_lines() const {
  uint64_t lines = 0;
  for (const auto& p : partitions_) lines += p->constant_hits() + p->constant_misses();
  return lines;
}

uint64_t Gpu::l2_dirty_sectors() const {
  uint64_t sectors = 0;
  for (const auto& p : partitions_) sectors += p->l2_dirty_sectors();
  return sectors;
}

void Gpu::empty_caches() {
  for (const auto& sm : sms_) sm->empty_caches();
  for (const auto& tlb : tlbs_) tlb->forget();
  for (const auto& cache : constants_) cache->forget();
  for (const auto& cache : textures_) cache->forget();
  for (const auto& partition : partitions_) partition->empty_caches();
}

void Gpu::open_kernel(KernelLaunch& run) {
  run.pc.resize(run.image->ops.size());
  run.sm.resize(num_sms_);
  run.residence.resize(num_sms_);
  bind_constant_memory(run, memory_);
  for (const auto& sm : sms_) sm->open_kernel(run);
}

void Gpu::close_kernel(const KernelLaunch& run) {
  for (const auto& sm : sms_) sm->close_kernel(run);
}

void Gpu::forget_kernel(KernelLaunch& run) {
  run.pc = std::vector<PcStats>();
  run.sm = std::vector<SmStats>();
  run.residence = std::vector<Residence>();
}

}  // namespace gpusim::comp
