//===- Session.h - a loaded network and the questions about it --------------------------------===//
//
// Everything conquer-eval answers, without JSON. A session holds the network, packed weights and
// the f32 outputs of sample files seen before. One caller at a time; work inside is spread over
// threads, and no result depends on how many.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_OPT_EVALUATOR_SESSION_H
#define CONQUER_OPT_EVALUATOR_SESSION_H

#include "conquer-opt/Calibration/RangeEstimator.h"
#include "conquer-opt/Evaluator/Metrics.h"
#include "conquer-opt/Evaluator/Network.h"
#include "conquer-opt/Evaluator/Npy.h"
#include "conquer-opt/Evaluator/Parallel.h"
#include "conquer-opt/Evaluator/Plan.h"

#include <list>
#include <optional>

namespace conquer {

struct SessionOptions {
  std::string prepared;         ///< path of prepared.mlir
  std::string profile = "host"; ///< name or file
  std::string profileDir;       ///< empty: beside the program
  std::string calibration;      ///< path, may be empty
  int threads = 0;              ///< 0: all cores
};

/// Called with the name of what is going on.
using StageProgress = std::function<void(const char *stage, int64_t done, int64_t total)>;

/// Answer of accuracy.
struct AccuracyResult {
  Comparison comparison;
  std::vector<ImageError> images;
  bool hasLabels = false;
  std::string correct, correctF32; ///< '0' or '1' per image
  double top1 = 0, top1F32 = 0;
};

/// What run reads and writes.
struct RunFiles {
  std::string samples; ///< .npy
  std::string output;  ///< .npy of the first output
  std::string outputs; ///< folder for INDEX.npy of every output; may be empty
  std::string values;  ///< folder for the .npy of every value with an id; may be empty
};

/// Answer of run.
struct RunResult {
  int64_t images = 0;
  bool exact = false; ///< see isExact
};

/// One line of the answer of check.
struct CheckEntry {
  std::string id, op, type; ///< type: of the value, "1x28x28x32xi8"
  int64_t elements = 0, differing = 0;
  double maxAbsDifference = 0;
  double maxAbsValue = 0; ///< largest finite magnitude that the module computed
};

/// What one layer in one precision does to the network's output.
struct Sensitivity {
  Comparison comparison;
  std::optional<double> accuracyDrop;
};
using SensitivityTable = std::map<std::string, std::map<Precision, Sensitivity>>;

class Session {
public:
  static Result<std::unique_ptr<Session>> create(const SessionOptions &options);

  /// Ranges of every value with an id, over all samples. They are in use from then on.
  Result<Calibration> calibrate(const std::string &samples, RangeMethod method, double percentile,
                                const StageProgress &progress);
  Result<AccuracyResult> accuracy(const Policy &policy, const std::string &samples,
                                  const std::string &labels, const StageProgress &progress);
  /// Runs all samples and writes what `files` names. A null policy is f32.
  Result<RunResult> run(const Policy *policy, const RunFiles &files, const StageProgress &progress);

  /// What each layer alone does in each legal precision other than f32.
  Result<SensitivityTable> sensitivity(const std::string &samples, const std::string &labels,
                                       const StageProgress &progress);
  /// Recomputes every activation of the fused network from the values of a probed module
  /// (FOLDER/<index>.npy) and compares.
  Result<std::vector<CheckEntry>> check(const Policy &policy, const std::string &folder);

  const Profile &profile() const { return target.profile; }
  const Network &network() const { return *net; }
  const cq_level &level() const { return *kernelLevel; }
  int threads() const { return threadCount; }
  const Calibration &calibration() const { return ranges; }

private:
  Session() = default;

  /// A sample file in memory.
  struct Samples {
    NpyArray array;
    uint64_t hash = 0;
    int64_t count() const { return array.shape[0]; }
    int64_t width() const { return array.elements() / count(); }
    const float *image(int64_t i) const { return array.as<float>() + i * width(); }
  };
  /// First outputs of all images, [images][width].
  struct Outputs {
    int64_t width = 0;
    std::vector<float> values;
    const float *image(int64_t i) const { return values.data() + i * width; }
  };

  Result<std::shared_ptr<const Samples>> loadSamples(const std::string &path);
  Result<Plan> makePlan(std::shared_ptr<const Graph> graph, const PlanOptions &options = {});
  Result<std::shared_ptr<const Graph>> graphOf(const Policy *policy, bool probe = false);
  struct Variant;
  Result<std::vector<Variant>> makeVariants();
  /// Output number `index` for all samples.
  Result<Outputs> outputsOf(const Plan &plan, const Samples &samples, size_t index,
                            const char *stage, const StageProgress &progress);
  Status writeOutput(const Plan &plan, const Samples &samples, size_t index,
                     const std::string &path, const StageProgress &progress);
  /// The f32 network's outputs, from the cache if the same samples were seen before.
  Result<std::shared_ptr<const Outputs>> referenceOutputs(const Samples &samples,
                                                          const StageProgress &progress);
  Result<std::vector<Extremes>> observeExtremes(const Plan &plan, const Samples &samples,
                                                const std::vector<int> &values,
                                                const StageProgress &progress);
  std::vector<Histogram> observeHistograms(const Plan &plan, const Samples &samples,
                                           const std::vector<int> &values,
                                           const std::vector<Extremes> &extremes,
                                           const StageProgress &progress);
  Status writeValues(const Plan &plan, const Samples &samples, const std::string &folder,
                     const StageProgress &progress);

  Target target;
  std::unique_ptr<Network> net;
  const cq_level *kernelLevel = nullptr;
  int threadCount = 1;
  Calibration ranges;
  PackCache packs;
  std::list<std::pair<uint64_t, std::shared_ptr<const Outputs>>> references; ///< newest first
  std::pair<std::string, std::shared_ptr<const Samples>> lastSamples;
};

/// The file name of a value: its id with everything but letters, digits, '.', '-' and '_' as %XX.
std::string valueFileName(const std::string &id);

} // namespace conquer

#endif // CONQUER_OPT_EVALUATOR_SESSION_H
