// Errors as CUDA programs see them. The numbers are those of cudaError_t, which CUresult shares where both
// have an error (CUDA Runtime API and Driver API reference).
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace gpusim::runtime {

enum class Code : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidHostPointer = 16,
  kInvalidDevicePointer = 17,
  kInvalidTexture = 18,
  kInvalidChannelDescriptor = 20,
  kInvalidMemcpyDirection = 21,
  kInvalidFilterSetting = 26,
  kInvalidNormSetting = 27,
  kDeviceUnavailable = 46,
  kMissingConfiguration = 52,
  kLaunchMaxDepthExceeded = 65,
  kLaunchPendingCountExceeded = 69,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidKernelImage = 200,
  kDeviceUninitialized = 201,
  kMapBufferObjectFailed = 205,
  kNoKernelImageForDevice = 209,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kFileNotFound = 301,
  kOperatingSystem = 304,
  kInvalidResourceHandle = 400,
  kIllegalState = 401,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kHardwareStackError = 714,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kGraphExecUpdateFailure = 910,
  kInvalidClusterSize = 912,
  kInvalidResourceType = 914,
  kInvalidResourceConfiguration = 915,
  kUnknown = 999,
};

/// Thrown by everything in runtime/device that a program can get wrong.
class Failure : public std::runtime_error {
 public:
  /// `told`: the message is on standard error already.
  explicit Failure(Code code, const std::string& message = {}, bool told = false)
      : std::runtime_error(message), code_(code), told_(told) {}
  [[nodiscard]] Code code() const { return code_; }
  [[nodiscard]] bool told() const { return told_; }

 private:
  Code code_;
  bool told_;
};

/// "error: MESSAGE" for standard error. Messages about the program's input name a place and say that they are
/// errors themselves; without a place they begin so, and it is not said twice.
[[nodiscard]] std::string as_error(std::string_view message);

/// "cudaErrorInvalidValue" and "invalid argument"; null for a number that is no error.
[[nodiscard]] const char* error_name(int code);
[[nodiscard]] const char* error_text(int code);

}  // namespace gpusim::runtime
