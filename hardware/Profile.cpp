//===- Profile.cpp - reading and choosing hardware profiles -----------------------------------===//

#include "hardware/Profile.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <sys/utsname.h>

namespace conquer {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

/// Names of an enumeration, by its values.
constexpr const char *codegenNames[] = {"kernel", "iree", "tosa"};
constexpr const char *driverNames[] = {"local", "vulkan", "cuda", "hip", "none"};
constexpr const char *requantNames[] = {"float32", "integer"};

/// The value of an enumeration whose name the field holds.
template <typename Enum, size_t N>
Enum readName(JsonReader &reader, const std::string &key, const char *const (&names)[N]) {
  std::string text = reader.string(key), expected;
  for (size_t i = 0; i < N; ++i) {
    if (text == names[i])
      return static_cast<Enum>(i);
    expected += (i == 0 ? "'" : i + 1 == N ? " or '" : ", '") + std::string(names[i]) + "'";
  }
  reader.fail(key, "is '" + text + "'", expected);
  return Enum();
}

/// Reads {"f32": "iree", "i8": "kernel"}.
OpSupport readOpSupport(JsonReader reader) {
  OpSupport support;
  for (const std::string &key : reader.keys()) {
    std::optional<Precision> precision = parsePrecision(key);
    if (!precision) {
      reader.fail(key, "unknown precision", "one of " + precisionNames(allPrecisions));
      return support;
    }
    auto codegen = readName<Codegen>(reader, key, codegenNames);
    if (codegen == Codegen::Iree &&
        (*precision == Precision::W4A8 || *precision == Precision::W8A16))
      reader.fail(key, "is 'iree'", "'kernel' or 'tosa', because IREE computes i4 and i48 wrongly");
    support.precisions[*precision] = codegen;
  }
  if (!support.precisions.count(Precision::F32))
    reader.fail("", "lacks f32", "f32 among the precisions, the fallback of every layer");
  return support;
}

std::map<std::string, OpSupport> readOps(JsonReader reader) {
  static const std::vector<std::string> kinds = {"conv2d", "depthwise_conv2d", "transpose_conv2d",
                                                 "matmul"};
  std::map<std::string, OpSupport> ops;
  for (const std::string &kind : reader.keys()) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      reader.fail(kind, "unknown kind of op",
                  "one of conv2d, depthwise_conv2d, transpose_conv2d, matmul");
    ops[kind] = readOpSupport(reader.object(kind));
  }
  return ops;
}

std::map<Precision, double> readPeak(JsonReader reader) {
  std::map<Precision, double> peak;
  for (const std::string &key : reader.keys()) {
    std::optional<Precision> precision = parsePrecision(key);
    if (!precision)
      reader.fail(key, "unknown precision", "one of " + precisionNames(allPrecisions));
    else
      peak[*precision] = reader.number(key);
  }
  return peak;
}

/// Whether the code of every op can be made and run the way the profile says.
void checkCodegen(const Profile &profile, JsonReader &reader) {
  bool isCpu = profile.arch == "x86_64" || profile.arch == "aarch64";
  if (profile.driver == Driver::Local && !isCpu)
    reader.fail("driver", "is 'local'", "the driver of the device, where arch is no CPU");
  for (const auto &[kind, support] : profile.ops)
    for (const auto &[precision, codegen] : support.precisions) {
      std::string field = "ops." + kind + "." + std::string(precisionName(precision));
      if ((codegen == Codegen::Tosa) != (profile.driver == Driver::None))
        reader.fail(field, std::string("is '") + codegenNames[static_cast<size_t>(codegen)] + "'",
                    "'tosa' where the driver is 'none', and only there");
      if (codegen == Codegen::Kernel &&
          (profile.driver != Driver::Local || profile.kernelLevel == "none"))
        reader.fail(field, "is 'kernel'", "a CPU with the driver 'local' and a kernel_level");
    }
}

Profile readFields(JsonReader &reader) {
  Profile profile;
  reader.header("conquer.profile");
  profile.name = reader.string("name");
  profile.description = reader.string("description");
  profile.source = reader.string("source");
  profile.arch = reader.string("arch");
  static const std::vector<std::string> archs = {"x86_64", "aarch64", "gpu", "npu"};
  if (std::find(archs.begin(), archs.end(), profile.arch) == archs.end())
    reader.fail("arch", "is '" + profile.arch + "'", "'x86_64', 'aarch64', 'gpu' or 'npu'");
  profile.driver = readName<Driver>(reader, "driver", driverNames);
  profile.features = reader.strings("features");
  profile.kernelLevel = reader.string("kernel_level");
  profile.requant = readName<Requant>(reader, "requant", requantNames);
  profile.ops = readOps(reader.object("ops"));
  profile.ireeFlags = reader.strings("iree_flags");
  profile.threads = static_cast<int>(reader.integer("threads"));
  if (profile.threads < 1 || profile.threads > 1024)
    reader.fail("threads", "is " + std::to_string(profile.threads), "1 to 1024");
  profile.peak = readPeak(reader.object("peak_gmacs"));
  profile.bandwidth = reader.number("bandwidth_gbps");
  if (profile.bandwidth <= 0)
    reader.fail("bandwidth_gbps", "is " + std::to_string(profile.bandwidth), "more than 0");
  checkCodegen(profile, reader);
  reader.finish();
  return profile;
}

/// The most demanding profile of the folder that this CPU satisfies.
Result<Profile> detectHost(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json")
      paths.push_back(entry.path().string());
  if (error)
    return Error{"cannot list profiles", folder, "a folder of profiles", "give --profile-dir"};
  std::sort(paths.begin(), paths.end());
  std::optional<Profile> best;
  for (const std::string &path : paths) {
    Result<Profile> profile = readProfile(path);
    if (!profile)
      return profile.error();
    bool fits = profile->arch == hostArch() && missingFeatures(*profile).empty();
    if (fits && (!best || profile->features.size() > best->features.size()))
      best = *profile;
  }
  if (!best)
    return Error{"no profile fits this CPU", folder, "a profile whose features the CPU has",
                 "name a profile with --profile"};
  best->description = "this machine, as " + best->name;
  best->name = "host";
  for (std::string &flag : best->ireeFlags)
    if (flag.rfind("--iree-llvmcpu-target-cpu=", 0) == 0)
      flag = "--iree-llvmcpu-target-cpu=host";
  return *best;
}

} // namespace

std::vector<Precision> Profile::precisionsOf(const std::string &opKind) const {
  auto found = ops.find(opKind);
  if (found == ops.end())
    return {Precision::F32};
  std::vector<Precision> result;
  for (const auto &entry : found->second.precisions)
    result.push_back(entry.first);
  return result;
}

bool Profile::allows(const std::string &opKind, Precision precision) const {
  std::vector<Precision> legal = precisionsOf(opKind);
  return std::find(legal.begin(), legal.end(), precision) != legal.end();
}

bool Profile::usesKernel(const std::string &opKind, Precision precision) const {
  auto found = ops.find(opKind);
  if (found == ops.end())
    return false;
  auto entry = found->second.precisions.find(precision);
  return entry != found->second.precisions.end() && entry->second == Codegen::Kernel;
}

std::string Profile::toJson() const {
  Json json = {{"format", "conquer.profile"},
               {"version", 1},
               {"name", name},
               {"description", description},
               {"source", source},
               {"arch", arch},
               {"driver", driverNames[static_cast<size_t>(driver)]},
               {"features", features},
               {"kernel_level", kernelLevel},
               {"requant", requantNames[static_cast<size_t>(requant)]}};
  json["ops"] = Json::object();
  for (const auto &[kind, support] : ops)
    for (const auto &[precision, codegen] : support.precisions)
      json["ops"][kind][std::string(precisionName(precision))] =
          codegenNames[static_cast<size_t>(codegen)];
  json["iree_flags"] = ireeFlags;
  json["threads"] = threads;
  json["peak_gmacs"] = Json::object();
  for (const auto &[precision, gmacs] : peak)
    json["peak_gmacs"][std::string(precisionName(precision))] = gmacs;
  json["bandwidth_gbps"] = bandwidth;
  return json.dump(2);
}

Result<Profile> readProfile(const std::string &path) {
  Result<Json> json = readJsonFile(path);
  if (!json)
    return json.error();
  JsonReader reader(*json, path);
  Profile profile = readFields(reader);
  Status status = reader.status();
  if (!status)
    return status.error();
  return profile;
}

Result<Profile> loadProfile(const std::string &nameOrPath, const std::string &folder) {
  if (nameOrPath == "host")
    return detectHost(folder);
  if (fs::path(nameOrPath).extension() == ".json")
    return readProfile(nameOrPath);
  std::string path = (fs::path(folder) / (nameOrPath + ".json")).string();
  if (nameOrPath.find('/') != std::string::npos || !fs::exists(path))
    return Error{"unknown profile '" + nameOrPath + "'", folder,
                 "'host', the name of a profile there, or a .json file", ""};
  return readProfile(path);
}

std::string defaultProfileFolder() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "data" / "profiles").string();
}

std::string hostArch() {
  utsname names;
  return uname(&names) == 0 ? names.machine : "";
}

std::vector<std::string> hostFeatures() {
  std::ifstream stream("/proc/cpuinfo");
  std::vector<std::string> features;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0)
      continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;)
      features.push_back(word);
    break;
  }
  std::sort(features.begin(), features.end());
  return features;
}

std::vector<std::string> missingFeatures(const Profile &profile) {
  std::vector<std::string> have = hostFeatures(), missing;
  for (const std::string &feature : profile.features)
    if (!std::binary_search(have.begin(), have.end(), feature))
      missing.push_back(feature);
  return missing;
}

} // namespace conquer
