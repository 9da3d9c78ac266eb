//===- Profile.cpp - reading and choosing hardware profiles -----------------------------------===//

#include "hardware/Profile.h"

#include "support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace conquer {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

const char *codegenName(Codegen codegen) { return codegen == Codegen::Kernel ? "kernel" : "iree"; }
const char *requantName(Requant requant) {
  return requant == Requant::Float32 ? "float32" : "integer";
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
    std::string codegen = reader.string(key);
    if (codegen != "kernel" && codegen != "iree")
      reader.fail(key, "is '" + codegen + "'", "'kernel' or 'iree'");
    support.precisions[*precision] = codegen == "kernel" ? Codegen::Kernel : Codegen::Iree;
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

Profile readFields(JsonReader &reader) {
  Profile profile;
  reader.header("conquer.profile");
  profile.name = reader.string("name");
  profile.description = reader.string("description");
  profile.source = reader.string("source");
  profile.arch = reader.string("arch");
  if (profile.arch != "x86_64")
    reader.fail("arch", "is '" + profile.arch + "'", "'x86_64'");
  profile.features = reader.strings("features");
  profile.kernelLevel = reader.string("kernel_level");
  std::string requant = reader.string("requant");
  if (requant != "float32" && requant != "integer")
    reader.fail("requant", "is '" + requant + "'", "'float32' or 'integer'");
  profile.requant = requant == "integer" ? Requant::Integer : Requant::Float32;
  profile.ops = readOps(reader.object("ops"));
  profile.ireeFlags = reader.strings("iree_flags");
  profile.threads = static_cast<int>(reader.integer("threads"));
  if (profile.threads < 1 || profile.threads > 1024)
    reader.fail("threads", "is " + std::to_string(profile.threads), "1 to 1024");
  profile.peak = readPeak(reader.object("peak_gmacs"));
  profile.bandwidth = reader.number("bandwidth_gbps");
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
    bool fits = profile->arch == "x86_64" && missingFeatures(*profile).empty();
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
               {"features", features},
               {"kernel_level", kernelLevel},
               {"requant", requantName(requant)}};
  json["ops"] = Json::object();
  for (const auto &[kind, support] : ops)
    for (const auto &[precision, codegen] : support.precisions)
      json["ops"][kind][std::string(precisionName(precision))] = codegenName(codegen);
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
