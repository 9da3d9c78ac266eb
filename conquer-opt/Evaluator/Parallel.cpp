//===- Parallel.cpp - images spread over the cores --------------------------------------------===//

#include "conquer-opt/Evaluator/Parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

void conquer::parallelFor(int threads, int64_t count, const std::function<void(int, int64_t)> &work,
                          const Progress &progress) {
  std::atomic<int64_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex mutex;
  auto loop = [&](int thread) {
    try {
      for (int64_t i = next++; i < count; i = next++) {
        work(thread, i);
        int64_t finished = ++done;
        if (thread == 0 && progress)
          progress(finished, count);
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  int helpers = static_cast<int>(std::min<int64_t>(threads, count)) - 1;
  std::vector<std::thread> pool;
  pool.reserve(std::max(helpers, 0));
  try {
    for (int i = 0; i < helpers; ++i)
      pool.emplace_back(loop, i + 1);
  } catch (const std::exception &) { // NOLINT(bugprone-empty-catch)
    // The system has no more threads or memory; those that started and this one share the work.
  }
  loop(0);
  for (std::thread &thread : pool)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}
