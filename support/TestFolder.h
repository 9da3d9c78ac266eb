//===- TestFolder.h - a folder for the files of one test --------------------------------------===//
#ifndef CONQUER_SUPPORT_TESTFOLDER_H
#define CONQUER_SUPPORT_TESTFOLDER_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace conquer {

/// A new, empty folder that goes with this object. Tests run in parallel processes, so no two
/// objects may ever share one.
class TestFolder {
public:
  TestFolder() : folder(testing::TempDir() + "conquer_XXXXXX") {
    if (!mkdtemp(folder.data()))
      throw std::runtime_error("cannot make the folder " + folder);
  }
  TestFolder(const TestFolder &) = delete;
  TestFolder &operator=(const TestFolder &) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// The path of a file in the folder.
  std::string path(const std::string &file) const { return folder + "/" + file; }

private:
  std::string folder;
};

} // namespace conquer

#endif // CONQUER_SUPPORT_TESTFOLDER_H
