"""lit configuration: the tests mirror the folders of conquer-opt."""

import os

import lit.formats

config.name = "conquer-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["Inputs"]
config.substitutions.append(("%profiles", config.conquer_profiles))
config.environment["PATH"] = os.pathsep.join([config.conquer_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
