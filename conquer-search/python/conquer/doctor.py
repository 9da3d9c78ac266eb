"""What is installed, what this CPU can do, what is missing and how to get it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conquer import __version__, devices, modules, tools
from conquer.errors import ConquerError

PACKAGES = ("iree-base-compiler", "iree-base-runtime", "onnx", "onnxruntime", "numpy")
FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")


def examine() -> list[dict[str, Any]]:
    """One entry per finding: name, ok, what was found, what to do, and whether CONQuER needs it."""
    findings: list[dict[str, Any]] = []

    def check(name: str, look: Callable[[], str], fix: str, needed: bool = True) -> None:
        try:
            findings.append({"name": name, "ok": True, "found": look(), "fix": "", "needed": needed})
        except (ConquerError, OSError, importlib.metadata.PackageNotFoundError) as error:
            found = (
                error.what if isinstance(error, ConquerError) else getattr(error, "strerror", None) or "not installed"
            )
            findings.append({"name": name, "ok": False, "found": found, "fix": fix, "needed": needed})

    check("conquer", lambda: f"{__version__}, Python {platform.python_version()}", "")
    for program in tools.PROGRAMS:
        check(program, lambda program=program: str(tools.find_program(program)), "run scripts/00_setup.sh")  # type: ignore[misc]
    for package in PACKAGES:
        check(package, lambda package=package: importlib.metadata.version(package), f"pip install {package}")  # type: ignore[misc]
    check("iree-compile", lambda: str(tools.find_iree("iree-compile")), "pip install iree-base-compiler")
    check("CPU", _cpu, "")
    check("host profile", _profile, "run scripts/00_setup.sh")
    check("kernels", _kernels, "run scripts/00_setup.sh")
    check(
        "Fashion-MNIST",
        lambda: f"{FASHION_MNIST.parent} ({FASHION_MNIST.stat().st_size} bytes)",
        "apt-get install dataset-fashion-mnist",
        False,
    )
    check("Vulkan driver", _vulkan, "scripts/00_setup.sh --vulkan", False)
    check(
        "NVIDIA driver",
        lambda: Path("/proc/driver/nvidia/version").read_text().splitlines()[0],
        "scripts/00_setup.sh --cuda",
        False,
    )
    check("AMD GPU", lambda: str(Path("/dev/kfd").stat() and "/dev/kfd"), "scripts/00_setup.sh --rocm", False)
    return findings


def _cpu() -> str:
    name, features = devices.cpu()
    levels = [
        level
        for level in ("avx2", "fma", "avx512f", "avx512vnni", "avx512bf16", "asimddp", "i8mm")
        if level in features
    ]
    return (
        f"{name}, {len(os.sched_getaffinity(0))} CPUs, {' '.join(levels) or 'no vector features that the kernels use'}"
    )


def _profile() -> str:
    resolved = modules.Target.load("host").resolved
    return f"{resolved['name']}, kernel level {resolved['kernel_level']}"


def _kernels() -> str:
    found = sorted(path.stem for path in (tools.data_folder() / "kernels").glob("*.o"))
    if not found:
        raise ConquerError("no kernel objects", where=str(tools.data_folder() / "kernels"))
    return ", ".join(found)


def _vulkan() -> str:
    drivers = [
        path.stem for folder in ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d") for path in Path(folder).glob("*.json")
    ]
    if not drivers:
        raise ConquerError("no Vulkan driver")
    return ", ".join(sorted(drivers))
