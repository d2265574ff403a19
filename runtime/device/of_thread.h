// What each thread has of its own, for as long as it may be asked for.
#pragma once
#include <sys/syscall.h>
#include <unistd.h>

namespace gpusim::runtime {

/// The T of this thread, made when it is first asked for. A program's static objects end after the main
/// thread's variables, and their destructors may still call the API: that of the main thread is never
/// destroyed, and another thread's is made anew.
template <class T>
T& of_thread() {
  thread_local T* mine = nullptr;
  struct Owner {
    ~Owner() {
      if (syscall(SYS_gettid) == getpid()) return;
      delete mine;
      mine = nullptr;
    }
  };
  if (mine == nullptr) {
    mine = new T;
    thread_local const Owner owner;
  }
  return *mine;
}

}  // namespace gpusim::runtime
