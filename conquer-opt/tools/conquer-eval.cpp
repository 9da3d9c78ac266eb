//===- conquer-eval.cpp - the evaluator as a program ------------------------------------------===//
//
// Loads a prepared network, then answers JSON lines on standard input with JSON lines on standard
// output until "shutdown" or the end of the input.
//
//===------------------------------------------------------------------------------------------===//

#include "conquer-opt/Evaluator/Server.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>

int main(int argc, char **argv) {
  CLI::App app(
      "Runs a network in any mix of precisions: calibrates it, measures the sensitivity of\n"
      "its layers and the accuracy of policies. One JSON request per line on standard\n"
      "input, one answer per line on standard output; see docs/formats.md.",
      "conquer-eval");
  conquer::SessionOptions options;
  app.add_option("--prepared", options.prepared, "the network after conquer-opt's prepare pipeline")
      ->required()
      ->type_name("FILE");
  app.add_option("--profile", options.profile, "target profile: a name, a .json file or 'host'")
      ->capture_default_str();
  app.add_option("--profile-dir", options.profileDir,
                 "folder of the profiles (default: data/profiles beside this program)")
      ->type_name("FOLDER");
  app.add_option("--calibration", options.calibration, "calibration.json, if there is one already")
      ->type_name("FILE");
  app.add_option("--threads", options.threads, "threads to spread images over; 0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.set_version_flag("--version", "conquer-eval " CONQUER_VERSION);
  app.footer("Example:\n"
             "  $ conquer-eval --prepared prepared.mlir --profile host\n"
             "  {\"id\": 1, \"method\": \"calibrate\", \"params\": {\"samples\": \"s.npy\", "
             "\"method\": \"mse\", \"output\": \"calibration.json\"}}\n"
             "  {\"id\":1,\"ok\":true,\"result\":{\"ranges\":58,\"file\":\"calibration.json\"}}");
  CLI11_PARSE(app, argc, argv);

  // A client that went away ends the program at the next read, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  auto session = conquer::Session::create(options);
  if (!session) {
    std::cerr << "error: " << session.error().message() << "\n";
    return 1;
  }
  auto write = [](const std::string &line) { std::cout << line << std::endl; };
  conquer::Server server(**session, write);
  std::string line;
  while (!server.isShutDown() && std::cout && std::getline(std::cin, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      write(server.answer(line));
  return 0;
}
