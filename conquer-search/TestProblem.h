//===- TestProblem.h - a small network and its truth for the tests ----------------------------===//
//
// Writes layers.json, sensitivity.json and latency_table.json of a made-up chain of layers into a
// folder of its own and knows what a policy would measure.
//
//===------------------------------------------------------------------------------------------===//
#ifndef CONQUER_SEARCH_TESTPROBLEM_H
#define CONQUER_SEARCH_TESTPROBLEM_H

#include "support/TestFolder.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace conquer {

class TestProblem {
public:
  TestProblem(int layers, std::vector<std::string> precisions);

  /// The path of a file in the folder.
  std::string path(const std::string &file) const { return folder.path(file); }
  /// Writes one of the three files anew.
  void write(const std::string &file, const nlohmann::ordered_json &json) const;
  /// Writes all three, from the members below.
  void writeAll() const;
  /// The parameters of "open" with these files.
  nlohmann::ordered_json openParams() const;

  /// What a policy measures: the table plus overhead, noise that adds and then saturates a little,
  /// weights plus a constant. A pure function of the policy.
  nlohmann::ordered_json measure(const nlohmann::ordered_json &policy) const;

  nlohmann::ordered_json layers, sensitivity, latencyTable;

private:
  TestFolder folder;
};

} // namespace conquer

#endif // CONQUER_SEARCH_TESTPROBLEM_H
