"""The connections of the service: what is written is sent at once."""

import asyncio
import socket
from dataclasses import replace

import uvicorn

from tests.server.living import SETTINGS
from viewvote.server.protocol import TimedProtocol
from viewvote.server.run import listen


async def _nothing(scope, receive, send):
    del scope, receive, send


async def _delay_option():
    """TCP_NODELAY of a connection that the service has accepted."""
    config = uvicorn.Config(_nothing, http=TimedProtocol, ws="none", log_config=None, lifespan="off")
    config.load()
    state = uvicorn.server.ServerState()
    made = []

    def protocol():
        made.append(TimedProtocol(config, state, {}))
        return made[-1]

    loop = asyncio.get_running_loop()
    with listen(replace(SETTINGS, port=0)) as listening:
        server = await loop.create_server(protocol, sock=listening)
        _, writer = await asyncio.open_connection(*listening.getsockname()[:2])
        while not made or made[0].transport is None:
            await asyncio.sleep(0)
        found = made[0].transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        server.close()
        return found


def test_an_answer_does_not_wait_for_the_client_to_acknowledge_its_first_part():
    assert asyncio.run(_delay_option()) != 0
