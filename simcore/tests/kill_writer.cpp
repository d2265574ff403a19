// Appends patterned records at full speed until it is killed (simcore/tests/kill_test.cpp). Usage:
// kill_writer FILE SECONDS
#include <cstdio>
#include <cstdlib>

#include "simcore/tests/kill_pattern.h"

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  try {
    const auto recorder = gpusim::core::Recorder::create(
        argv[1], gpusim::core::pattern_attributes(), gpusim::core::EventLevel::kAll, 2, std::atof(argv[2]));
    std::puts("started");
    std::fflush(stdout);
    for (;;) gpusim::core::write_pattern(*recorder, 1u << 20, 200'000, [&] { recorder->check(); });
  } catch (const gpusim::core::RecordError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
