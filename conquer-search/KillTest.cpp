//===- KillTest.cpp - the program survives being killed ---------------------------------------===//
//
// Drives the real program through its pipes, kills it (signal 9) again and again, and compares the
// front with that of a run that was left in peace.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-search/TestProblem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace conquer;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

namespace {

/// One process of the program.
class Program {
public:
  explicit Program(const std::string &archive) {
    int input[2], output[2];
    EXPECT_EQ(pipe(input), 0);
    EXPECT_EQ(pipe(output), 0);
    child = fork();
    if (child == 0) {
      dup2(input[0], 0);
      dup2(output[1], 1);
      for (int end : {input[0], input[1], output[0], output[1]})
        close(end);
      execl(CONQUER_SEARCH_PROGRAM, "conquer-search", "--archive", archive.c_str(), nullptr);
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    to = fdopen(input[1], "w");
    from = fdopen(output[0], "r");
  }
  ~Program() {
    kill();
    std::fclose(to);
    std::fclose(from);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  void send(const std::string &method, const Json &params) {
    std::fprintf(to, "%s\n",
                 Json{{"id", 1}, {"method", method}, {"params", params}}.dump().c_str());
    std::fflush(to);
  }
  Json answer() {
    std::string line;
    for (int c = std::fgetc(from); c != '\n' && c != EOF; c = std::fgetc(from))
      line += static_cast<char>(c);
    return line.empty() ? Json() : Json::parse(line);
  }
  Json call(const std::string &method, const Json &params = Json::object()) {
    send(method, params);
    return answer();
  }
  void kill() {
    if (child > 0) {
      ::kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    child = 0;
  }
  /// Waits for its end by itself; the exit status.
  int wait() {
    int status = 0;
    waitpid(child, &status, 0);
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t child;
  FILE *to, *from;
};

class KillTest : public testing::Test {
protected:
  TestProblem problem{12, {"f32", "bf16", "i8"}};

  void SetUp() override { std::signal(SIGPIPE, SIG_IGN); }

  Json openParams() {
    Json params = problem.openParams();
    params.update({{"population", 10}, {"generations", 5}, {"seed", 4}});
    return params;
  }
  Json tellParams(const Json &candidate) {
    std::string key = candidate["key"];
    // A policy that fails does so in every run.
    if (key.substr(2, 2) == "8b")
      return {{"key", key}, {"failure", "does not compile"}};
    return {{"key", key}, {"measured", problem.measure(candidate["policy"])}};
  }
  /// Goes on until the run is done or `requests` requests are made, then sends one more without
  /// waiting and kills. True if the run is done.
  bool live(const std::string &archive, int requests, Json &front, Json &log) {
    Program program(archive);
    if (requests == 0) {
      program.send("open", openParams());
      return false; // killed while opening
    }
    Json opened = program.call("open", openParams());
    EXPECT_TRUE(opened["ok"]) << opened;
    for (;;) {
      Json asked = program.call("ask")["result"];
      if (asked["done"])
        break;
      for (const Json &candidate : asked["candidates"]) {
        if (--requests == 0) {
          program.send("tell", tellParams(candidate));
          return false;
        }
        EXPECT_TRUE(program.call("tell", tellParams(candidate))["ok"]);
      }
      if (requests < 9 && requests % 3 == 1) {
        program.send("ask", Json::object());
        return false; // killed while a generation is made and stored
      }
    }
    front = program.call("front")["result"];
    log = program.call("log")["result"];
    EXPECT_EQ(program.call("shutdown")["ok"], true);
    EXPECT_EQ(program.wait(), 0);
    return true;
  }
};

TEST_F(KillTest, KilledAgainAndAgainItEndsAtTheSameFront) {
  Json front, log, killedFront, killedLog;
  ASSERT_TRUE(live(problem.path("calm.sqlite"), 1 << 30, front, log));
  ASSERT_GT(front["points"].size(), 5u);
  ASSERT_EQ(log["generations"].size(), 5u);
  bool done = false;
  int lives = 0;
  for (; !done && lives < 200; ++lives)
    done = live(problem.path("killed.sqlite"), lives % 9, killedFront, killedLog);
  EXPECT_TRUE(done);
  EXPECT_GT(lives, 8);
  EXPECT_EQ(killedFront, front);
  EXPECT_EQ(killedLog, log);
}

TEST_F(KillTest, ASecondProcessIsToldSoAndTheFirstIsNotHarmed) {
  std::string archive = problem.path("shared.sqlite");
  Program first(archive), second(archive);
  ASSERT_TRUE(first.call("open", openParams())["ok"]);
  Json refused = second.call("open", openParams());
  EXPECT_EQ(refused["ok"], false);
  EXPECT_THAT(refused["error"]["what"], HasSubstr("in use by another process"));
  Json asked = first.call("ask")["result"];
  EXPECT_TRUE(first.call("tell", tellParams(asked["candidates"][0]))["ok"]);
  first.kill();
  Json opened = second.call("open", openParams());
  EXPECT_TRUE(opened["ok"]) << opened;
  EXPECT_EQ(opened["result"]["evaluated"], 1);
}

TEST_F(KillTest, TheEndOfTheInputIsTheEnd) {
  std::string command = CONQUER_SEARCH_PROGRAM " --archive '" + problem.path("x.sqlite") + "'";
  EXPECT_EQ(std::system((command + " < /dev/null").c_str()), 0);
  EXPECT_EQ(std::system(("printf '\\n{}' | " + command + " | grep -q 'missing field'").c_str()), 0);
  EXPECT_FALSE(std::filesystem::exists(problem.path("x.sqlite")));
  EXPECT_EQ(std::system(CONQUER_SEARCH_PROGRAM " --help | grep -q -- '--archive run.sqlite'"), 0);
  EXPECT_EQ(std::system(CONQUER_SEARCH_PROGRAM " --version | grep -q '^conquer-search [0-9]'"), 0);
  EXPECT_NE(std::system(CONQUER_SEARCH_PROGRAM " < /dev/null 2> /dev/null"), 0);
}

} // namespace
