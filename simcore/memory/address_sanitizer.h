// GPUSIM_ADDRESS_SANITIZER is defined in a build with the AddressSanitizer, which g++ and clang each say in a
// way of their own.
#pragma once
#if defined(__SANITIZE_ADDRESS__)
#define GPUSIM_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUSIM_ADDRESS_SANITIZER
#endif
#endif
