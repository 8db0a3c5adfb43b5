"""A command run in a home and, where the system lets us, in a network of its own, and what it left there."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GUARD = '''
"""Notes what Python sends or looks up beyond this machine; native code is seen by the network interface alone."""
import os, sys

def _note(event, args):
    if event == "socket.connect" or event in ("socket.sendto", "socket.sendmsg"):
        place = args[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        place = args
    else:
        return
    if isinstance(place, tuple) and str(place[0]) not in ("None", "", "127.0.0.1", "::1", "localhost", "0.0.0.0"):
        with open(os.environ["SEALED_LOG"], "a") as log:
            log.write(f"{event} {place[0]}\\n")

sys.addaudithook(_note)
'''
NETWORK = """
ip link set lo up && ip link add out type veth peer name far &&
for end in out far; do ip link set $end addrgenmode none arp off up || exit 99; done &&
ip addr add 198.51.100.2/24 dev out && ip route add default dev out || exit 99
"$@"; code=$?
sed -n 's/^ *out: *//p' /proc/self/net/dev > "$SEALED_PACKETS"
exit $code
"""


@dataclass(frozen=True)
class Left:
    """What a process left: its code and output, the files in its home, and what it tried to send."""

    code: int
    output: str
    files: frozenset[str]
    sent: tuple[str, ...]


@cache
def has_own_network() -> bool:
    """Whether this system lets us give a process a network of its own, in which every packet is counted."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run([*_enter(), "true"], env={**os.environ, "SEALED_PACKETS": os.devnull}).returncode == 0


def _enter() -> list[str]:
    return ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", NETWORK, "sh"]


def run_sealed(*words: str, folder: Path, timeout: float = 120) -> Left:
    """Run Python with these arguments in `folder / "work"`, with `folder / "home"` as its home."""
    for name in ("home", "work", "guard"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "guard" / "sitecustomize.py").write_text(GUARD)
    log, packets = folder / "log", folder / "packets"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "PYTHONPATH": os.pathsep.join([str(folder / "guard"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "SEALED_LOG": str(log),
        "SEALED_PACKETS": str(packets),
    }
    command = [*(_enter() if has_own_network() else ()), sys.executable, *words]
    done = subprocess.run(
        command,
        cwd=folder / "work",
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )
    home = folder / "home"
    files = frozenset(path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir())
    sent = tuple(log.read_text().splitlines()) if log.exists() else ()
    if has_own_network() and (count := int(packets.read_text().split()[9])):  # packets sent, see proc(5)
        sent = (*sent, f"{count} packets")
    return Left(done.returncode, done.stdout + done.stderr, files, sent)
