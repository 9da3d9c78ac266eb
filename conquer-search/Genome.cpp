//===- Genome.cpp - a precision per layer as a vector of genes --------------------------------===//

#include "conquer-search/Genome.h"

#include <algorithm>

namespace conquer {

namespace {

/// Where `precision` is in `alphabet`; the alphabet's length if it is not.
size_t indexIn(const std::vector<Precision> &alphabet, Precision precision) {
  return std::find(alphabet.begin(), alphabet.end(), precision) - alphabet.begin();
}

} // namespace

Result<GenomeSpace> GenomeSpace::create(std::vector<std::string> ids,
                                        std::vector<std::vector<Precision>> alphabets) {
  if (ids.empty() || ids.size() != alphabets.size())
    return Error{"has " + std::to_string(ids.size()) + " layers and " +
                     std::to_string(alphabets.size()) + " alphabets",
                 "search space", "at least one layer and one alphabet per layer", ""};
  for (size_t i = 0; i < ids.size(); ++i) {
    if (alphabets[i].empty())
      return Error{"has no precision", "layer '" + ids[i] + "'", "at least one precision", ""};
    std::vector<Precision> sorted = alphabets[i];
    std::sort(sorted.begin(), sorted.end());
    auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      return Error{"precision '" + std::string(precisionName(*twice)) + "' is given twice",
                   "layer '" + ids[i] + "'", "each precision once", ""};
  }
  GenomeSpace space;
  space.ids = std::move(ids);
  space.alphabets = std::move(alphabets);
  return space;
}

std::vector<int> GenomeSpace::alphabetSizes() const {
  std::vector<int> sizes;
  sizes.reserve(alphabets.size());
  for (const auto &alphabet : alphabets)
    sizes.push_back(static_cast<int>(alphabet.size()));
  return sizes;
}

std::vector<Precision> GenomeSpace::precisions() const {
  std::vector<Precision> result;
  for (Precision precision : allPrecisions)
    if (std::any_of(alphabets.begin(), alphabets.end(), [&](const auto &alphabet) {
          return indexIn(alphabet, precision) < alphabet.size();
        }))
      result.push_back(precision);
  return result;
}

Genome GenomeSpace::uniform(Precision precision) const {
  Genome genome;
  for (const auto &alphabet : alphabets) {
    size_t index = indexIn(alphabet, precision);
    genome.push_back(static_cast<uint8_t>(index < alphabet.size() ? index : 0));
  }
  return genome;
}

std::string GenomeSpace::key(const Genome &genome) const {
  std::string text;
  for (size_t i = 0; i < genome.size(); ++i)
    text += precisionLetter(precision(genome, i));
  return text;
}

Result<Genome> GenomeSpace::parseKey(std::string_view key) const {
  if (key.size() != numGenes())
    return Error{"has " + std::to_string(key.size()) + " characters", "key",
                 "one character per layer: " + std::to_string(numGenes()), ""};
  Genome genome;
  for (size_t i = 0; i < key.size(); ++i) {
    const auto &alphabet = alphabets[i];
    auto found = std::find_if(alphabet.begin(), alphabet.end(),
                              [&](Precision p) { return precisionLetter(p) == key[i]; });
    if (found == alphabet.end())
      return Error{"character " + std::to_string(i) + " of '" + std::string(key) +
                       "' is no precision of layer '" + ids[i] + "'",
                   "key", "a key that 'ask' gave", ""};
    genome.push_back(static_cast<uint8_t>(found - alphabet.begin()));
  }
  return genome;
}

uint64_t countGenomes(const std::vector<int> &alphabetSizes) {
  uint64_t count = 1;
  for (int size : alphabetSizes)
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(size), &count))
      return UINT64_MAX;
  return count;
}

} // namespace conquer
