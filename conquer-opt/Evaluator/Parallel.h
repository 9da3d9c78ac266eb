//===- Parallel.h - images spread over the cores ----------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_PARALLEL_H
#define CONQUER_OPT_EVALUATOR_PARALLEL_H

#include <cstdint>
#include <functional>

namespace conquer {

/// Told how much of a piece of work is done.
using Progress = std::function<void(int64_t done, int64_t total)>;

/// Calls work(thread, index) for every index below count, on `threads` threads, the caller's among
/// them as number 0; which thread gets which index is not determined. The caller's thread reports
/// progress. An exception (out of memory) stops the work and is thrown on.
void parallelFor(int threads, int64_t count, const std::function<void(int, int64_t)> &work,
                 const Progress &progress = {});

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_PARALLEL_H
