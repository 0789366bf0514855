"""Waiting in tests for what another process does, and free ports for its servers."""

import contextlib
import socket
import time


def wait(seconds, what, look, pause=0.2):
    """Return the first true value of ``look``; fail with the name ``what`` after the given number of seconds."""
    end = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(pause)
    return answer


def free_ports(count=1):
    """Return the numbers of different ports that nobody uses."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in found]
