#!/usr/bin/env python3
"""Several servers behind one address: each new connection goes to the next of them.

    nodes.py --listen 127.0.0.1:8080 --nodes 2 -- ojs server --listen {listen} --store postgres://…

Starts the command once per node, with {listen} replaced by a free address, and forwards bytes. When one node ends, it stops the
others and ends too. Python 3.10, standard library only.
"""
import argparse
import asyncio
import contextlib
import itertools
import random
import signal
import socket


def free_address() -> str:
    """A free address, with a port below those that the system gives to outgoing connections: none of these takes it first."""
    for port in random.sample(range(15_000, 32_000), 100):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return f"127.0.0.1:{port}"
    raise OSError("no free port between 15000 and 32000")


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Passes bytes on until one side is done."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def answering(address: str, node: asyncio.subprocess.Process) -> None:
    """Waits until the node listens. It also returns when the node has ended; serve() notices that."""
    host, port = address.rsplit(":", 1)
    while node.returncode is None:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
            return
        await asyncio.sleep(0.01)


async def serve(options: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    addresses = [free_address() for _ in range(options.nodes)]
    commands = [[word.replace("{listen}", address) for word in options.command] for address in addresses]
    nodes = [await asyncio.create_subprocess_exec(*command) for command in commands]
    await asyncio.gather(*(answering(address, node) for address, node in zip(addresses, nodes)))
    turns = itertools.cycle(addresses)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            host, port = next(turns).rsplit(":", 1)
            with contextlib.suppress(OSError):
                back_reader, back_writer = await asyncio.open_connection(host, int(port))
                with contextlib.closing(back_writer):
                    await asyncio.gather(copy(reader, back_writer), copy(back_reader, writer))
        finally:
            writer.close()

    host, port = options.listen.rsplit(":", 1)
    server = await asyncio.start_server(forward, host, int(port))
    ends = [asyncio.ensure_future(node.wait()) for node in nodes]
    await asyncio.wait([asyncio.ensure_future(stop.wait()), *ends], return_when=asyncio.FIRST_COMPLETED)
    server.close()
    for node in nodes:
        with contextlib.suppress(ProcessLookupError):
            node.terminate()
    return max(map(abs, await asyncio.gather(*ends)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listen", required=True, help="the address of all of them")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- and the command of one node")
    options = parser.parse_args()
    options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    return asyncio.run(serve(options))


if __name__ == "__main__":
    raise SystemExit(main())
