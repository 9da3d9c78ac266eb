//===- Profile.h - what a target device allows, and how it is reached -------------------------===//
//
// The one reader of hardware/profiles/*.json. A profile says which precisions are legal per op
// kind, how integers are requantised, which kernels exist and which flags IREE needs. Its schema is
// hardware/schema/profile.schema.json.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_HARDWARE_PROFILE_H
#define CONQUER_HARDWARE_PROFILE_H

#include "hardware/Precision.h"
#include "support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace conquer {

/// How an i32 accumulator becomes i8.
enum class Requant {
  Float32, ///< q = zp + rne(clamp(f32(acc) * m[c])): one f32 multiplication; where our kernels run
  Integer, ///< TOSA RESCALE, scale32, SINGLE_ROUND: integer-only devices and IREE-generated code
};

/// Where the code for one op kind in one precision comes from.
enum class Codegen {
  Kernel, ///< a microkernel of conquer-opt/kernels at the profile's ISA level
  Iree,   ///< IREE's own code generation from TOSA
  Tosa,   ///< none of ours: the quantised TOSA is the product, for the device's own compiler
};

/// How IREE's runtime reaches the device.
enum class Driver {
  Local,  ///< threads of the CPU: local-sync, local-task
  Vulkan, ///< the others are drivers of the same name
  Cuda,
  Hip,
  None, ///< IREE does not compile for the device
};

/// What the target can do with one kind of op ("conv2d", "depthwise_conv2d", "transpose_conv2d",
/// "matmul").
struct OpSupport {
  std::map<Precision, Codegen> precisions; ///< legal precisions; F32 is always among them
};

/// One target device.
struct Profile {
  std::string name;
  std::string description;
  std::string source; ///< where the figures below come from
  std::string arch;   ///< "x86_64", "aarch64", "gpu" or "npu"
  Driver driver = Driver::Local;
  std::vector<std::string>
      features;            ///< CPU flags the device must have, spelled as in /proc/cpuinfo
  std::string kernelLevel; ///< a level of conquer-opt/kernels such as "avx512vnni", or "none"
  Requant requant = Requant::Float32;
  std::map<std::string, OpSupport> ops;
  std::vector<std::string> ireeFlags; ///< for iree-compile, in order
  int threads = 1;                    ///< default thread count of measurements
  std::map<Precision, double> peak;   ///< GMAC/s of one core (GPU, NPU: of the device)
  double bandwidth = 0; ///< GB/s that one core (GPU, NPU: the device) reads from main memory; with
                        ///< peak it sizes the workgroups of kernels

  /// The legal precisions of an op kind, widest first; only F32 for kinds the profile does not
  /// list.
  std::vector<Precision> precisionsOf(const std::string &opKind) const;
  bool allows(const std::string &opKind, Precision precision) const;
  /// Whether an op of that kind and precision runs on one of our kernels.
  bool usesKernel(const std::string &opKind, Precision precision) const;
  /// The profile as text, in the form the reader accepts.
  std::string toJson() const;
};

/// Reads one profile file.
Result<Profile> readProfile(const std::string &path);

/// The profile of that name in `folder`, the file if `nameOrPath` ends in .json, or for "host" the
/// profile whose features this CPU has (the most demanding one), with IREE told to use the host
/// CPU.
Result<Profile> loadProfile(const std::string &nameOrPath, const std::string &folder);

/// The profiles beside the running program: <folder of the program>/data/profiles.
std::string defaultProfileFolder();

/// The architecture of this CPU, as profiles spell it.
std::string hostArch();

/// The flags of this CPU, sorted, spelled as in /proc/cpuinfo.
std::vector<std::string> hostFeatures();

/// Which of the profile's features this CPU lacks; empty if code for a CPU of its architecture can
/// run here.
std::vector<std::string> missingFeatures(const Profile &profile);

} // namespace conquer

#endif // CONQUER_HARDWARE_PROFILE_H
