"""Time the uniform modules of a run against stock IREE: the imported f32 network, compiled as it is.

    .venv/bin/python bench/compare_stock.py runs/resnet18-224 [--rounds 15]

Interleaved rounds on one thread (or --threads); prints median, interquartile range, and the median over the rounds of
stock IREE's time divided by ours.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from conquer import modules
from conquer.artifacts import Run, scratch
from conquer.bench import builder
from conquer.devices import LocalDevice, input_type
from conquer.stages import Session
from conquer.tools import Limits


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the uniform modules of a run against stock IREE in f32.")
    parser.add_argument("folder", type=Path, help="a run folder, calibrated")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    run = Run(args.folder)
    session = Session(run, modules.Target.load(run.settings.get("profile", "host")), lambda text: None)
    layers = session.layers()
    inputs = [input_type(entry["shape"]) for entry in layers["inputs"]]
    build = builder(session, Limits())
    names = ("f32", "i8")
    built = dict(zip(names, build.build([modules.uniform(layers["layers"], name) for name in names], 1), strict=True))
    with scratch(run.folder) as folder:
        stock, bytecode = folder / "stock.vmfb", folder / "stock.mlirbc"
        modules.opt(
            [str(run / "model.tosa.mlir"), "--emit-bytecode", "-o", str(bytecode)]
        )  # the text differs between MLIR versions
        modules.compile_ir(bytecode, stock, session.target.resolved["iree_flags"], Limits())
        paths = {"stock IREE f32": stock}
        for name, module in built.items():
            if not isinstance(module, modules.Module):
                raise module
            paths[f"CONQuER {name}"] = module.vmfb
        device = LocalDevice(args.threads)
        subjects = [{"module": str(path), "inputs": inputs} for path in paths.values()]
        timings = dict(zip(paths, device.measure(subjects, args.rounds, 50.0), strict=True))
        device.close()
    for name, timing in timings.items():
        speed = 1 / timing.ratio(timings["stock IREE f32"])
        print(f"{name:15} {timing.median_ms:8.3f} ms (IQR {timing.spread_ms:.3f})  {speed:5.2f} times as fast as stock")
    session.close()


if __name__ == "__main__":
    main()
