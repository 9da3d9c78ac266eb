//===- ArchiveTest.cpp - what a run's file keeps and refuses ----------------------------------===//

#include "conquer-search/Archive.h"
#include "conquer-search/Run.h"
#include "conquer-search/Server.h"
#include "conquer-search/TestProblem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace conquer;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

namespace {

class ArchiveTest : public testing::Test {
protected:
  TestProblem problem{6, {"f32", "i8"}};
  std::string path = problem.path("run.sqlite");

  RunFiles files() const {
    return {problem.path("layers.json"), problem.path("sensitivity.json"),
            problem.path("latency_table.json")};
  }
  SearchOptions options() const {
    SearchOptions result;
    result.engine.population = 8;
    result.engine.generations = 3;
    return result;
  }
  std::string openError(const SearchOptions &with) {
    auto run = conquer::Run::open(path, files(), with);
    return run ? "" : run.error().message();
  }
  Outcome outcomeOf(const Candidate &candidate, const GenomeSpace &space) const {
    Json policy;
    for (size_t i = 0; i < space.numGenes(); ++i)
      policy[space.id(i)] = precisionName(space.precision(candidate.genome, i));
    Json measured = problem.measure(policy);
    Outcome outcome;
    outcome.values = {measured["latency_ms"].get<double>(), measured["accuracy_drop"].get<double>(),
                      measured["size_bytes"].get<double>()};
    outcome.latencySpread = 0.01;
    return outcome;
  }
  /// Tells `count` candidates at most.
  void advance(conquer::Run &run, size_t count) {
    while (count > 0) {
      std::vector<size_t> asked = *run.ask();
      if (asked.empty())
        return;
      for (size_t index : asked) {
        if (count-- == 0)
          return;
        const Candidate candidate = run.search().candidates()[index];
        if (index == 5)
          ASSERT_TRUE(run.tell(candidate.key, {{}, {}, "hung"}));
        else
          ASSERT_TRUE(run.tell(candidate.key, outcomeOf(candidate, run.search().space())));
      }
    }
  }
};

TEST_F(ArchiveTest, StoresAndLoadsEveryField) {
  Candidate first{0, "ff", "uniform", {}, {{{1.0 / 3, 0.1}, {-1e-300, 5e300}, {7, 0}}}, {}};
  Candidate second{0, "f8", "random", {}, {}, {}}, third{1, "8f", "offspring", {}, {}, {}};
  {
    auto archive = Archive::open(path);
    ASSERT_TRUE(archive);
    EXPECT_FALSE(*archive->bind({{"seed", "1"}}));
    ASSERT_TRUE(archive->addGeneration({&first, &second}));
    ASSERT_TRUE(archive->addGeneration({&third}));
    ASSERT_TRUE(archive->setOutcome("ff", {{0.1, -0.25, std::nullopt}, 1e-9, {}}));
    ASSERT_TRUE(archive->setOutcome("8f", {{}, {}, std::string("bad \0 byte", 10)}));
    // Twice the same key, or none of ours: nothing is stored.
    EXPECT_FALSE(archive->addGeneration({&second}));
    EXPECT_FALSE(archive->setOutcome("ff", {}));
    EXPECT_FALSE(archive->setOutcome("88", {}));
  }
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive);
  EXPECT_TRUE(*archive->bind({{"seed", "1"}}));
  EXPECT_THAT(archive->bind({{"seed", "2"}}).error().message(),
              HasSubstr("another seed; expected 1; asked for 2"));
  std::vector<Candidate> loaded = *archive->load();
  ASSERT_EQ(loaded.size(), 3u);
  EXPECT_EQ(loaded[0].key, "ff");
  EXPECT_EQ(loaded[0].origin, "uniform");
  EXPECT_EQ(loaded[0].predicted[0].mean, 1.0 / 3);
  EXPECT_EQ(loaded[0].predicted[1].mean, -1e-300);
  EXPECT_EQ(loaded[0].predicted[1].deviation, 5e300);
  EXPECT_EQ(loaded[0].outcome->values[0], 0.1);
  EXPECT_EQ(loaded[0].outcome->values[1], -0.25);
  EXPECT_FALSE(loaded[0].outcome->values[2]);
  EXPECT_EQ(loaded[0].outcome->latencySpread, 1e-9);
  EXPECT_FALSE(loaded[0].outcome->failure);
  EXPECT_FALSE(loaded[1].outcome);
  EXPECT_EQ(loaded[2].generation, 1);
  EXPECT_EQ(loaded[2].outcome->failure, std::string("bad \0 byte", 10));
}

TEST_F(ArchiveTest, ResumesAtEveryPointToTheSameCandidates) {
  std::vector<std::string> whole;
  {
    auto run = conquer::Run::open(path, files(), options());
    ASSERT_TRUE(run);
    advance(*run, 1000);
    for (const Candidate &candidate : run->search().candidates())
      whole.push_back(candidate.key);
    ASSERT_EQ(whole.size(), 24u);
  }
  std::filesystem::remove(path);
  // Five tells per life of the program.
  std::vector<std::string> pieces;
  for (size_t told = 0; told < 24; told += 5) {
    auto run = conquer::Run::open(path, files(), options());
    ASSERT_TRUE(run) << run.error().message();
    EXPECT_EQ(run->resumed(), told > 0);
    EXPECT_EQ(run->numTold(), told);
    advance(*run, 5);
    pieces.clear();
    for (const Candidate &candidate : run->search().candidates())
      pieces.push_back(candidate.key);
  }
  EXPECT_EQ(pieces, whole);
  // A finished run can be prolonged.
  SearchOptions longer = options();
  longer.engine.generations = 4;
  auto run = conquer::Run::open(path, files(), longer);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->search().generation(), 3);
  EXPECT_EQ(run->ask()->size(), 8u);
}

TEST_F(ArchiveTest, AnotherProblemIsRefusedByName) {
  EXPECT_EQ(openError(options()), "");
  SearchOptions other = options();
  other.engine.seed = 2;
  EXPECT_THAT(openError(other), HasSubstr("run with another seed; expected 1; asked for 2"));
  other = options();
  other.engine.population = 9;
  EXPECT_THAT(openError(other), HasSubstr("another population"));
  other = options();
  other.limits[0] = 3;
  EXPECT_THAT(openError(other), HasSubstr("another constraints"));
  other = options();
  other.objectives = {Objective::Size};
  EXPECT_THAT(openError(other), HasSubstr("another objectives"));
  problem.latencyTable["threads"] = 2;
  problem.writeAll();
  EXPECT_THAT(openError(options()), HasSubstr("another latency table"));
}

TEST_F(ArchiveTest, OneProcessAtATime) {
  auto run = conquer::Run::open(path, files(), options());
  ASSERT_TRUE(run);
  EXPECT_THAT(openError(options()), HasSubstr("archive is in use by another process"));
}

TEST_F(ArchiveTest, DamageIsOneClearError) {
  {
    auto run = conquer::Run::open(path, files(), options());
    ASSERT_TRUE(run);
    advance(*run, 20);
  }
  auto size = std::filesystem::file_size(path);
  std::string whole(size, 0);
  std::ifstream(path, std::ios::binary).read(whole.data(), static_cast<std::streamsize>(size));
  auto errorWith = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return openError(options());
  };
  EXPECT_EQ(errorWith(whole), "");
  for (size_t length : {size_t(1), size_t(50), size_t(100), size_t(1000), size_t(4096),
                        size_t(5000), size / 2, size - 4096, size - 1})
    EXPECT_THAT(errorWith(whole.substr(0, length)), HasSubstr("archive is damaged")) << length;
  std::string scribbled = whole;
  scribbled.replace(4096, 3000, std::string(3000, 'x'));
  EXPECT_THAT(errorWith(scribbled), HasSubstr("archive is damaged"));
  EXPECT_THAT(
      errorWith("just a text file, not a database at all, but long enough to have a header " +
                std::string(200, '.')),
      HasSubstr("archive is damaged"));
  EXPECT_EQ(errorWith(""), ""); // what a process killed while creating leaves
  EXPECT_THAT(openError({}), HasSubstr("another population"));
}

TEST_F(ArchiveTest, ForeignFilesAndFoldersAreRefused) {
  std::filesystem::create_directory(path);
  EXPECT_THAT(openError(options()), HasSubstr("cannot open archive"));
  std::filesystem::remove(path);
  ASSERT_EQ(std::system(("true > '" + path + "'").c_str()), 0);
  EXPECT_EQ(openError(options()), "");
}

} // namespace
