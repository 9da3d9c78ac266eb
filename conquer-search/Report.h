//===- Report.h - what a search has found, as JSON --------------------------------------------===//
#ifndef CONQUER_SEARCH_REPORT_H
#define CONQUER_SEARCH_REPORT_H

#include "conquer-search/Search.h"

#include <nlohmann/json_fwd.hpp>

namespace conquer {

/// A candidate as "ask" answers it: key, policy, origin, predicted.
nlohmann::ordered_json candidateJson(const Search &search, const Candidate &candidate);

/// The body of front.json (docs/formats.md) for generations 0 to `generation`, which must be
/// complete.
nlohmann::ordered_json frontJson(const Search &search, int generation);

/// The answer of "log": one entry per complete generation.
nlohmann::ordered_json logJson(const Search &search);

} // namespace conquer

#endif // CONQUER_SEARCH_REPORT_H
