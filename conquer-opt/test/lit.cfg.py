"""lit configuration: the tests mirror the folders of conquer-opt."""

import os
import platform
import shutil

import lit.formats

config.name = "conquer-opt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.excludes = ["Inputs"]
config.substitutions.append(("%profiles", config.conquer_profiles))
config.substitutions.append(("%kernels", os.path.join(config.conquer_tools_dir, "data", "kernels")))
config.substitutions.append(
    (
        "%iree-flags",
        "--iree-input-type=tosa --iree-hal-target-device=local"
        " --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic",
    )
)
config.available_features.add(platform.machine())
# Tests that compile and run modules; without IREE on PATH lit reports them as unsupported.
if shutil.which("iree-compile") and shutil.which("iree-run-module"):
    config.available_features.add("iree")
config.environment["PATH"] = os.pathsep.join([config.conquer_tools_dir, config.llvm_tools_dir, os.environ["PATH"]])
