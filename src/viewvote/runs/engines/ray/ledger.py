"""What Ray's actors report of themselves, kept in an actor of its own, so that it outlives them."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

ANSWER = 10.0
"""Seconds in which the ledger's actor answers; else it is taken for lost with its node (Ray starts it again, empty)."""


class _Book:
    """The actor."""

    def __init__(self) -> None:
        self._attempts: dict[int, int] = defaultdict(int)
        self._actors: dict[str, Any] = {}
        self._beats = 0

    def start_attempt(self, start: int) -> int:
        self._attempts[start] += 1
        return self._attempts[start]

    def register(self, name: str, actor: Any) -> None:
        self._actors[name] = actor

    def beat(self) -> None:
        self._beats += 1

    def beats(self) -> int:
        return self._beats

    def take_actors(self) -> list[Any]:
        actors = list(self._actors.values())
        self._actors.clear()
        return actors


class Ledger:
    """Its handle, for the run and for the actors."""

    def __init__(self, ray: Any) -> None:
        self._book = ray.remote(num_cpus=0, max_restarts=-1)(_Book).remote()

    def register(self) -> None:
        """Enter the actor that calls this, so that `end_actors` can end it."""
        import ray

        context = ray.get_runtime_context()
        self._book.register.remote(context.get_actor_id(), context.current_actor)

    def start_attempt(self, start: int) -> int:
        """Count one more attempt at the shard that starts there; returns its number."""
        return int(self._call("start_attempt", start) or 1)

    @contextmanager
    def at_work(self, *, beat: float) -> Iterator[None]:
        """Report every `beat` seconds, while the block runs, that this actor is at work."""
        done = Event()

        def report() -> None:
            self._book.beat.remote()
            while not done.wait(beat):
                self._book.beat.remote()

        Thread(target=report, name="viewvote-beat", daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def beats(self) -> int:
        """A number that changes while any actor is at work."""
        return int(self._call("beats") or 0)

    def end_actors(self) -> None:
        """End the actors that are registered, so that others have their room."""
        import ray

        for actor in self._call("take_actors") or []:
            ray.kill(actor)

    def _call(self, what: str, *args: object) -> Any:
        """What the actor's method returns; None where the actor was lost."""
        import ray

        try:
            return ray.get(getattr(self._book, what).remote(*args), timeout=ANSWER)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            return None
