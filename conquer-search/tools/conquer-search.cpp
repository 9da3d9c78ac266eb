//===- conquer-search.cpp - the search engine as a program ------------------------------------===//
//
// Answers JSON lines on standard input with JSON lines on standard output until "shutdown" or the
// end of the input.
//
//===------------------------------------------------------------------------------------------===//
#include "conquer-search/Server.h"

#include <CLI/CLI.hpp>

#include <iostream>

int main(int argc, char **argv) {
  CLI::App app(
      "Searches the precision of every layer: proposes policies (ask), takes their measured\n"
      "latency, accuracy drop and size (tell), and answers the Pareto front. One JSON request per\n"
      "line on standard input, one answer per line on standard output; see docs/formats.md.",
      "conquer-search");
  std::string archive;
  app.add_option("--archive", archive, "SQLite file of the run: created, or resumed if it exists")
      ->required()
      ->type_name("FILE");
  app.set_version_flag("--version", "conquer-search " CONQUER_VERSION);
  app.footer(
      "Example:\n"
      "  $ conquer-search --archive run.sqlite\n"
      "  {\"id\": 1, \"method\": \"open\", \"params\": {\"layers\": \"layers.json\", "
      "\"sensitivity\": "
      "\"sensitivity.json\",\n"
      "   \"latency_table\": \"latency_table.json\", \"seed\": 1, \"population\": 24}}    (on one "
      "line)\n"
      "  {\"id\":1,\"ok\":true,\"result\":{\"resumed\":false,\"generation\":0,\"evaluated\":0}}\n"
      "  {\"id\": 2, \"method\": \"ask\"}");
  CLI11_PARSE(app, argc, argv);

  conquer::Server server(archive);
  std::string line;
  while (!server.isShutDown() && std::getline(std::cin, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      std::cout << server.answer(line) << std::endl;
  return 0;
}
