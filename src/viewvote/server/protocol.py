"""HTTP/1.1 by uvicorn and h11, for clients that are slow or wrong."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Seconds from the first byte of a connection, or of its next request, to the end of the headers; also the seconds that
the rest of a body may take whose request has been answered (closing at once would destroy the answer on its way)."""


class TimedProtocol(H11Protocol):
    """A connection that is closed where its headers do not arrive: idle ones must not fill the server."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Send what is written at once, and start to wait for headers.

        asyncio asks for that only of sockets that name TCP as their protocol, which those of a listening socket made
        before do not: the second part of an answer then waits 40 ms for the client to acknowledge the first.
        """
        with suppress(OSError):  # the client is gone already
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        """Wait on as long as the headers, or the body of an answered request, are incomplete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._arm()
        elif self.cycle is None or not self.cycle.response_complete:
            self._disarm()

    def on_response_complete(self) -> None:
        """Read what is left of the body and forget it, but not for ever."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._arm()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; a request that was being read on this connection gets no second answer."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer has started, or none may have a body (HEAD)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._disarm()
        super().connection_lost(exc)

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._hang_up)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _hang_up(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()
