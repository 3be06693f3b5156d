#!/usr/bin/env python3
"""strike.py: sends signals to processes, at moments that somebody else chose or as fast as they can be sent.

Commands: strike pid signal delay_us [signal2 delay2_us]: done when they are sent, the second so long after the first | storm pid signal count."""

import os
import time

import stage


def send(pid, signal):
    try:
        os.kill(pid, signal)
    except ProcessLookupError:
        pass


def strike(pid, signal, delay_us, signal2=0, delay2_us=0):
    # The moment is what is tried: whoever asked waits until it has passed.
    time.sleep(delay_us / 1_000_000)
    send(pid, signal)
    if signal2:
        time.sleep(delay2_us / 1_000_000)
        send(pid, signal2)


def storm(pid, signal, count):
    for _ in range(count):
        send(pid, signal)


class Nobody(stage.Handler):
    pass


if __name__ == "__main__":
    stage.serve(Nobody, {"strike": strike, "storm": storm})
