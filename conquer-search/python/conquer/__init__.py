"""CONQuER: per-layer precision search for IREE, on measured latency. This package is the command line front."""

from __future__ import annotations

__version__ = "0.1.0"
