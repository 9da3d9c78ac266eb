//===- GenomeTest.cpp - keys, alphabets, uniform genomes --------------------------------------===//

#include "conquer-search/Genome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace conquer;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using P = Precision;

GenomeSpace exampleSpace() {
  return *GenomeSpace::create({"a", "b", "c"},
                              {{P::F32, P::I8, P::W4A8}, {P::F32}, {P::F32, P::BF16, P::I8}});
}

TEST(Genome, KeyAndGenomeAreOneToOne) {
  GenomeSpace space = exampleSpace();
  std::vector<std::string> keys;
  for (uint8_t a = 0; a < 3; ++a)
    for (uint8_t c = 0; c < 3; ++c) {
      Genome genome = {a, 0, c};
      keys.push_back(space.key(genome));
      EXPECT_EQ(*space.parseKey(keys.back()), genome);
    }
  EXPECT_THAT(keys, ElementsAre("fff", "ffb", "ff8", "8ff", "8fb", "8f8", "4ff", "4fb", "4f8"));
}

TEST(Genome, RefusesKeysThatAreNoGenome) {
  GenomeSpace space = exampleSpace();
  EXPECT_THAT(space.parseKey("ff").error().message(), HasSubstr("has 2 characters"));
  EXPECT_THAT(space.parseKey("").error().message(), HasSubstr("one character per layer: 3"));
  EXPECT_THAT(space.parseKey("f8f").error().message(), HasSubstr("no precision of layer 'b'"));
  EXPECT_THAT(space.parseKey("f?f").error().message(), HasSubstr("no precision of layer 'b'"));
}

TEST(Genome, UniformFallsBackToTheFirstPrecision) {
  GenomeSpace space = exampleSpace();
  EXPECT_EQ(space.key(space.uniform(P::F32)), "fff");
  EXPECT_EQ(space.key(space.uniform(P::I8)), "8f8");
  EXPECT_EQ(space.key(space.uniform(P::W4A8)), "4ff");
  EXPECT_THAT(space.precisions(), ElementsAre(P::F32, P::BF16, P::I8, P::W4A8));
}

TEST(Genome, RefusesBadAlphabets) {
  EXPECT_FALSE(GenomeSpace::create({}, {}));
  EXPECT_FALSE(GenomeSpace::create({"a"}, {}));
  EXPECT_THAT(GenomeSpace::create({"a"}, {{}}).error().message(), HasSubstr("layer 'a'"));
  EXPECT_THAT(GenomeSpace::create({"a"}, {{P::I8, P::F32, P::I8}}).error().message(),
              HasSubstr("'i8' is given twice"));
}

TEST(Genome, CountsWithoutOverflow) {
  EXPECT_EQ(countGenomes({3, 1, 3}), 9u);
  EXPECT_EQ(countGenomes(std::vector<int>(63, 2)), uint64_t(1) << 63);
  EXPECT_EQ(countGenomes(std::vector<int>(64, 2)), UINT64_MAX);
  EXPECT_EQ(countGenomes(std::vector<int>(400, 6)), UINT64_MAX);
}

} // namespace
