"""What a measurement was made on, for the line above its table."""

import os
import platform
from pathlib import Path

from benchmarks.kept import Kept


def describe_machine() -> str:
    """The processor, whether it multiplies int8 by VNNI, and its cores."""
    info = Path("/proc/cpuinfo")
    facts = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line) if info.exists() else {}
    told = {name.strip(): fact.strip() for name, fact in facts.items()}
    vnni = "VNNI" if {"avx512_vnni", "avx_vnni"} & set(told.get("flags", "").split()) else "no VNNI"
    return f"{told.get('model name', platform.machine())} ({vnni}), {os.cpu_count()} cores"


def measured_on(kept: Kept) -> str:
    """The machine that made these measurements, and how busy it was with them and all else."""
    machine = kept.unit(["machine"], describe_machine)
    low, high = min(kept.loads), max(kept.loads)
    return f"{machine}, load {low:.1f} to {high:.1f}"
