//===- Genome.h - a precision per layer as a vector of genes ----------------------------------===//
//
// A genome has one gene per layer; the gene is an index into that layer's own alphabet of
// precisions, so that every genome is legal by construction. The key is its canonical text.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_GENOME_H
#define CONQUER_SEARCH_GENOME_H

#include "hardware/Precision.h"
#include "support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conquer {

/// One index into the layer's alphabet per layer.
using Genome = std::vector<uint8_t>;

/// All genomes of one network on one target.
class GenomeSpace {
public:
  /// `ids` and `alphabets` are parallel, one entry per layer. Errors: no layers, an empty alphabet,
  /// a precision twice in an alphabet, different lengths.
  static Result<GenomeSpace> create(std::vector<std::string> ids,
                                    std::vector<std::vector<Precision>> alphabets);

  size_t numGenes() const { return alphabets.size(); }
  const std::string &id(size_t gene) const { return ids[gene]; }
  const std::vector<Precision> &alphabet(size_t gene) const { return alphabets[gene]; }
  Precision precision(const Genome &genome, size_t gene) const {
    return alphabets[gene][genome[gene]];
  }
  /// Length of every alphabet, in layer order.
  std::vector<int> alphabetSizes() const;
  /// The precisions that occur in some alphabet, in the order of the enum.
  std::vector<Precision> precisions() const;

  /// The genome with `precision` wherever the layer has it and the layer's first precision
  /// elsewhere.
  Genome uniform(Precision precision) const;
  /// One character per layer in layer order, the letters of hardware/Precision.h.
  std::string key(const Genome &genome) const;
  /// The genome of a key. Errors: wrong length, a character that the layer's alphabet lacks.
  Result<Genome> parseKey(std::string_view key) const;

private:
  GenomeSpace() = default;
  std::vector<std::string> ids;
  std::vector<std::vector<Precision>> alphabets;
};

/// How many genomes there are; UINT64_MAX stands for that many or more.
uint64_t countGenomes(const std::vector<int> &alphabetSizes);

} // namespace conquer

#endif // CONQUER_SEARCH_GENOME_H
