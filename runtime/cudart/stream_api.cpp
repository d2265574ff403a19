// Streams, events, host functions.
#include "runtime/cudart/graph.h"
#include "runtime/cudart/ipc.h"

namespace gpusim::runtime::cudart {

namespace {

constexpr unsigned kNonBlocking = 1;
// Lower numbers are more urgent, as cudaDeviceGetStreamPriorityRange says.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&](Device& device) {
    require(stream != nullptr && (flags & ~kNonBlocking) == 0);
    *stream = nullptr;
    device.check();
    priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    *stream = reinterpret_cast<cudaStream_t>(&device.add_stream(flags != kNonBlocking, priority, flags));
  });
}

cudaError_t synchronize(cudaStream_t stream, Default null) {
  return call([&](Device& device) {
    Stream& s = stream_of(device, stream, null);
    refuse_while_capturing(device, s);
    refuse_if_unsafe();
    device.synchronize(s);
  });
}

cudaError_t query(cudaStream_t stream, Default null) {
  // Whoever asks until it is done must see it done one day: the work is carried out now, as far as it goes.
  return call([&](Device& device) {
    const Stream& s = stream_of(device, stream, null);
    refuse_while_capturing(device, s);
    require(device.is_done(s), Code::kNotReady);
  });
}

cudaError_t wait_event(cudaStream_t stream, cudaEvent_t event, unsigned flags, Default null) {
  return call([&](Device& device) {
    constexpr unsigned kExternal = 1;
    require((flags & ~kExternal) == 0);
    Stream& s = stream_of(device, stream, null);
    submit_wait(device, s, event_of(device, event), flags == kExternal);
  });
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, unsigned flags, Default null) {
  return call([&](Device& device) {
    constexpr unsigned kExternal = 1;
    require((flags & ~kExternal) == 0);
    Stream& s = stream_of(device, stream, null);
    submit_record(device, event_of(device, event), s, flags == kExternal);
  });
}

cudaError_t add_callback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags,
                         Default null) {
  return call([&](Device& device) {
    require(callback != nullptr && flags == 0);
    Stream& s = stream_at(device, stream, null);
    submit_function(
        device, [stream, callback, data] { callback(stream, 0, data); }, s, nullptr, nullptr,
        [stream, callback, data](Code code) { callback(stream, static_cast<cudaError_t>(code), data); });
  });
}

cudaError_t launch_host(cudaStream_t stream, cudaHostFn_t function, void* data, Default null) {
  return call([&](Device& device) {
    require(function != nullptr);
    Stream& s = stream_of(device, stream, null);
    submit_function(
        device, [function, data] { function(data); }, s, function, data);
  });
}

}  // namespace

GPUSIM_EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create_stream(stream, 0, 0); }
GPUSIM_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}
GPUSIM_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}
GPUSIM_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Device& device) {
    // Not a default stream, of the process or of a thread.
    constexpr uintptr_t kOfThread = 2;
    require(reinterpret_cast<uintptr_t>(stream) > kOfThread, Code::kInvalidResourceHandle);
    Stream& s = stream_of(device, stream);
    end_capture(s);
    device.remove_stream(&s);
  });
}
GPUSIM_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Device&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

#define GPUSIM_STREAM(name, parameters, expression_legacy, expression_thread) \
  GPUSIM_EXPORT cudaError_t name parameters { return expression_legacy; }     \
  GPUSIM_EXPORT cudaError_t name##_ptsz parameters { return expression_thread; }

GPUSIM_STREAM(cudaStreamSynchronize, (cudaStream_t stream), synchronize(stream, Default::kLegacy),
              synchronize(stream, Default::kThread))
GPUSIM_STREAM(cudaStreamQuery, (cudaStream_t stream), query(stream, Default::kLegacy),
              query(stream, Default::kThread))
GPUSIM_STREAM(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
              wait_event(stream, event, flags, Default::kLegacy),
              wait_event(stream, event, flags, Default::kThread))
GPUSIM_STREAM(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream),
              record(event, stream, 0, Default::kLegacy), record(event, stream, 0, Default::kThread))
GPUSIM_STREAM(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
              record(event, stream, flags, Default::kLegacy), record(event, stream, flags, Default::kThread))
GPUSIM_STREAM(cudaStreamAddCallback,
              (cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags),
              add_callback(stream, callback, data, flags, Default::kLegacy),
              add_callback(stream, callback, data, flags, Default::kThread))
GPUSIM_STREAM(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data),
              launch_host(stream, function, data, Default::kLegacy),
              launch_host(stream, function, data, Default::kThread))

namespace {
template <class Get>
cudaError_t ask_stream(cudaStream_t stream, Default null, Get get) {
  return call([&](Device& device) { get(stream_of(device, stream, null)); });
}
}  // namespace
#define GPUSIM_ASK_STREAM(name, type, expression)                                 \
  GPUSIM_EXPORT cudaError_t name(cudaStream_t stream, type* value) {              \
    return ask_stream(stream, Default::kLegacy, [&]([[maybe_unused]] Stream& s) { \
      require(value != nullptr);                                                  \
      *value = expression;                                                        \
    });                                                                           \
  }                                                                               \
  GPUSIM_EXPORT cudaError_t name##_ptsz(cudaStream_t stream, type* value) {       \
    return ask_stream(stream, Default::kThread, [&]([[maybe_unused]] Stream& s) { \
      require(value != nullptr);                                                  \
      *value = expression;                                                        \
    });                                                                           \
  }
GPUSIM_ASK_STREAM(cudaStreamGetFlags, unsigned, s.flags)
GPUSIM_ASK_STREAM(cudaStreamGetPriority, int, s.priority)
GPUSIM_ASK_STREAM(cudaStreamGetId, unsigned long long, s.number)
GPUSIM_ASK_STREAM(cudaStreamGetDevice, int, 0)

// Events

GPUSIM_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&](Device& device) {
    require(event != nullptr);
    device.check();
    *event = reinterpret_cast<cudaEvent_t>(&new_event(device, flags));
  });
}
GPUSIM_EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
GPUSIM_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Device& device) {
    Event& e = event_of(device, event);
    forget_captured(e);
    device.remove_event(&e);
  });
}
GPUSIM_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Device& device) {
    const Event& e = event_of(device, event);
    refuse_captured(e);
    device.synchronize(e);
  });
}
GPUSIM_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&](Device& device) {
    const Event& e = event_of(device, event);
    refuse_captured(e);
    refuse_if_unsafe();
    require(device.is_done(e), Code::kNotReady);
  });
}
GPUSIM_EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call([&](Device& device) {
    require(milliseconds != nullptr);
    Event &begin = event_of(device, from), &end = event_of(device, to);
    require(!is_captured(begin) && !is_captured(end), Code::kCapturedEvent);
    *milliseconds = static_cast<float>(device.milliseconds(begin, end));
  });
}
GPUSIM_EXPORT cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}

}  // namespace gpusim::runtime::cudart
