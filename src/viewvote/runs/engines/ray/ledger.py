"""What Ray's actors say of themselves, kept in an actor of its own, so that it outlives them."""

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
        self._begun: dict[int, int] = defaultdict(int)
        self._actors: dict[str, Any] = {}
        self._beats = 0

    def begin(self, start: int) -> int:
        self._begun[start] += 1
        return self._begun[start]

    def join(self, name: str, actor: Any) -> None:
        self._actors[name] = actor

    def beat(self) -> None:
        self._beats += 1

    def beats(self) -> int:
        return self._beats

    def leave(self) -> list[Any]:
        actors = list(self._actors.values())
        self._actors.clear()
        return actors


class Ledger:
    """Its handle, for the run and for the actors."""

    def __init__(self, ray: Any) -> None:
        self._book = ray.remote(num_cpus=0, max_restarts=-1)(_Book).remote()

    def join(self) -> None:
        """Says that this actor is here."""
        import ray

        context = ray.get_runtime_context()
        self._book.join.remote(context.get_actor_id(), context.current_actor)

    def begin(self, start: int) -> int:
        """The number of this attempt at the shard that starts there."""
        return int(self._ask("begin", start) or 1)

    @contextmanager
    def at_work(self, *, beat: float) -> Iterator[None]:
        """Says every `beat` seconds that this actor is at work."""
        done = Event()

        def say() -> None:
            self._book.beat.remote()
            while not done.wait(beat):
                self._book.beat.remote()

        Thread(target=say, name="viewvote-beat", daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def beats(self) -> int:
        """A number that changes while any actor is at work."""
        return int(self._ask("beats") or 0)

    def dismiss(self) -> None:
        """Ends the actors that are here, so that others have their room."""
        import ray

        for actor in self._ask("leave") or []:
            ray.kill(actor)

    def _ask(self, what: str, *args: object) -> Any:
        """The book's answer, None where it was lost."""
        import ray

        try:
            return ray.get(getattr(self._book, what).remote(*args), timeout=ANSWER)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            return None
