//===- CostModel.cpp - latency and size of a genome -------------------------------------------===//

#include "conquer-search/CostModel.h"

#include <algorithm>
#include <cmath>

namespace conquer {

namespace {

/// The time of a pair that was measured.
double interpolate(const std::vector<LatencyTable::Conversion> &entries, int64_t elements) {
  auto upper = std::lower_bound(
      entries.begin(), entries.end(), elements,
      [](const LatencyTable::Conversion &entry, int64_t value) { return entry.elements < value; });
  if (upper == entries.begin() || upper == entries.end()) {
    const LatencyTable::Conversion &nearest = upper == entries.end() ? entries.back() : *upper;
    return nearest.milliseconds * static_cast<double>(elements) /
           static_cast<double>(nearest.elements);
  }
  auto lower = upper - 1;
  double position = static_cast<double>(elements - lower->elements) /
                    static_cast<double>(upper->elements - lower->elements);
  return lower->milliseconds + position * (upper->milliseconds - lower->milliseconds);
}

} // namespace

std::optional<double> conversionMs(const LatencyTable &table, Precision from, Precision to,
                                   int64_t elements) {
  if (auto found = table.conversions.find({from, to}); found != table.conversions.end())
    return interpolate(found->second, elements);
  auto first = table.conversions.find({from, Precision::F32});
  auto second = table.conversions.find({Precision::F32, to});
  if (first == table.conversions.end() || second == table.conversions.end())
    return std::nullopt;
  return interpolate(first->second, elements) + interpolate(second->second, elements);
}

Result<LatencyModel> LatencyModel::create(const Network &network, const LatencyTable &table,
                                          const GenomeSpace &space) {
  LatencyModel model(table, space);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const std::string &signature = network.layers[i].signature;
    auto row = table.layers.find(signature);
    auto &times = model.layerMs.emplace_back();
    for (Precision precision : space.alphabet(i)) {
      if (row == table.layers.end() || !row->second[precisionIndex(precision)])
        return Error{"has no time of layer '" + network.layers[i].id + "' in " +
                         std::string(precisionName(precision)),
                     "latency table: layers." + signature,
                     "every precision that layers.json allows", "measure the table again"};
      times.push_back(*row->second[precisionIndex(precision)]);
    }
  }
  for (const Edge &edge : network.edges) {
    if (model.sources.size() <= edge.source)
      model.sources.resize(edge.source + 1);
    model.sources[edge.source].layer = edge.from;
    model.sources[edge.source].readers.push_back({edge.to, edge.elements});
  }
  if (Status status = model.checkConversions(); !status)
    return status.error();
  return model;
}

/// Every conversion between forms that the ends of an edge can have is known.
Status LatencyModel::checkConversions() const {
  auto forms = [&](int layer) {
    std::vector<Precision> result;
    if (layer < 0)
      return std::vector<Precision>{Precision::F32};
    for (Precision precision : space.alphabet(layer))
      result.push_back(activationForm(precision));
    return result;
  };
  for (const Source &source : sources)
    for (const Reader &reader : source.readers)
      for (Precision from : forms(source.layer))
        for (Precision to : forms(reader.layer))
          if (from != to && !conversionMs(table, from, to, reader.elements))
            return Error{"has no conversion from " + std::string(precisionName(from)) + " to " +
                             std::string(precisionName(to)),
                         "latency table: conversions", "every conversion between legal precisions",
                         "measure the table again"};
  return success();
}

Precision LatencyModel::formOf(const Genome &genome, int layer) const {
  return layer < 0 ? Precision::F32 : activationForm(space.precision(genome, layer));
}

LatencyModel::TableCost LatencyModel::tableCost(const Genome &genome) const {
  TableCost cost{0, 0};
  for (size_t i = 0; i < genome.size(); ++i)
    cost.milliseconds += layerMs[i][genome[i]];
  for (const Source &source : sources) {
    Precision from = formOf(genome, source.layer);
    FormSizes largest{};
    for (const Reader &reader : source.readers) {
      int64_t &elements = largest[precisionIndex(formOf(genome, reader.layer))];
      elements = std::max(elements, reader.elements);
    }
    // An integer layer whose codes nobody reads writes its accumulators as f32.
    if (from == Precision::I8 && largest[precisionIndex(from)] == 0)
      from = Precision::F32;
    largest[precisionIndex(from)] = 0;
    addConversions(from, largest, cost);
  }
  return cost;
}

/// One form is made directly; of several, each is made from one f32.
void LatencyModel::addConversions(Precision from, const FormSizes &sizes, TableCost &cost) const {
  auto add = [&](Precision source, Precision to, int64_t elements) {
    cost.milliseconds += *conversionMs(table, source, to, elements);
    ++cost.conversions;
  };
  bool several = std::count_if(sizes.begin(), sizes.end(), [](int64_t n) { return n > 0; }) > 1;
  if (several && from != Precision::F32) {
    add(from, Precision::F32, *std::max_element(sizes.begin(), sizes.end()));
    from = Precision::F32;
  }
  for (Precision to : allPrecisions)
    if (int64_t elements = sizes[precisionIndex(to)]; elements > 0 && to != from)
      add(from, to, elements);
}

/// The table's sum, the number of conversions and the number of layers that compute on i8.
std::vector<double> LatencyModel::features(const Genome &genome) const {
  TableCost cost = tableCost(genome);
  int integers = 0;
  for (size_t i = 0; i < genome.size(); ++i)
    integers += formOf(genome, static_cast<int>(i)) == Precision::I8;
  return {cost.milliseconds, static_cast<double>(cost.conversions), static_cast<double>(integers)};
}

void LatencyModel::fit(const std::vector<Observation> &observations) {
  std::vector<RidgeSample> samples;
  for (const Observation &observation : observations) {
    std::vector<double> values = features(observation.genome);
    samples.push_back({values, values[0], observation.measured});
  }
  correction.fit(samples);
}

Estimate LatencyModel::predict(const Genome &genome) const {
  std::vector<double> values = features(genome);
  Estimate estimate = correction.predict(values, values[0], 0.1 * values[0]);
  estimate.mean = std::max(estimate.mean, 0.0);
  return estimate;
}

SizeModel::SizeModel(const Network &network, const GenomeSpace &space) {
  for (size_t i = 0; i < network.layers.size(); ++i) {
    auto &row = bytes.emplace_back();
    for (Precision precision : space.alphabet(i))
      row.push_back(
          std::ceil(static_cast<double>(network.layers[i].weights) * bytesPerWeight(precision)));
  }
}

double SizeModel::weightBytes(const Genome &genome) const {
  double sum = 0;
  for (size_t i = 0; i < genome.size(); ++i)
    sum += bytes[i][genome[i]];
  return sum;
}

void SizeModel::fit(const std::vector<Observation> &observations) {
  std::vector<RidgeSample> samples;
  for (const Observation &observation : observations) {
    double sum = weightBytes(observation.genome);
    samples.push_back({{sum}, sum, observation.measured});
  }
  correction.fit(samples);
}

Estimate SizeModel::predict(const Genome &genome) const {
  double sum = weightBytes(genome);
  Estimate estimate = correction.predict({sum}, sum, 0);
  estimate.mean = std::max(estimate.mean, 0.0);
  return estimate;
}

} // namespace conquer
