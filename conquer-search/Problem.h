//===- Problem.h - the files a search starts from ---------------------------------------------===//
//
// Readers of layers.json, sensitivity.json and latency_table.json (docs/formats.md) and the values
// they hold. Every mistake is an Error that names the field.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_PROBLEM_H
#define CONQUER_SEARCH_PROBLEM_H

#include "conquer-search/Genome.h"

#include <array>
#include <map>

namespace conquer {

/// One quantisable op of layers.json.
struct Layer {
  std::string id, signature;
  int64_t weights = 0; ///< number of weights, 0 for an op without constants
  std::vector<Precision> precisions;
};

/// A value on its way from a layer or a network input to a layer or a network output.
struct Edge {
  size_t source;    ///< an id of its own for each layer and each network input
  int from, to;     ///< index of a layer; -1 for a network input or output, which are f32
  int64_t elements; ///< of the tensor at the reader
};

/// layers.json. Layers are in execution order.
struct Network {
  std::vector<Layer> layers;
  std::vector<Edge> edges;

  /// Reads and checks a file: ids are unique, precisions known, edges end at known ids and go
  /// forward. An id that names both a layer and an output is the layer where the edge's reader
  /// comes after its source, else the output.
  static Result<Network> read(const std::string &path);
};

/// What one layer in one precision does to the network's output, against f32.
struct Sensitivity {
  double noise = 0;                   ///< noise-to-signal power ratio, 10^(-sqnr_db/10)
  double kl = 0;                      ///< nat
  std::optional<double> accuracyDrop; ///< fraction of 1, only where there were labels
};

/// sensitivity.json: per layer (in the network's order) and precision (index is the enum's value).
/// f32 where the file does not have it is a Sensitivity without noise and drop.
struct SensitivityTable {
  std::vector<std::array<std::optional<Sensitivity>, numPrecisions>> layers;

  /// Reads a file that has every precision of every layer of `network`. Errors: unknown or missing
  /// layers and precisions, negative kl.
  static Result<SensitivityTable> read(const std::string &path, const Network &network);
};

/// latency_table.json: measured times on one device, milliseconds.
struct LatencyTable {
  struct Conversion {
    int64_t elements;
    double milliseconds;
  };
  std::map<std::string, std::array<std::optional<double>, numPrecisions>> layers; ///< by signature
  /// By (from, to), sorted by elements, one entry per size (the mean of repeated ones).
  std::map<std::pair<Precision, Precision>, std::vector<Conversion>> conversions;

  /// Reads a file. Errors: negative times, unknown precisions, fewer than one element, a conversion
  /// between equal forms.
  static Result<LatencyTable> read(const std::string &path);
};

} // namespace conquer

#endif // CONQUER_SEARCH_PROBLEM_H
