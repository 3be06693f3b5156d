#!/usr/bin/env python3
"""proxy.py --to PORT: hands bytes on to a server of this machine and back, until the network is lost.

Commands: lose reset (every connection ends: 1 by a reset, 0 without a word to anybody; new ones are taken and never served) | heal (what is held is
reset, and everything is handed on again)."""

import argparse
import json
import os
import socket
import struct
import sys
import threading

import stage

lock = threading.Lock()
open_sockets, held = set(), set()
is_lost = False


def drop(sock):
    """Ends a connection by a reset."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    except OSError:
        pass


def pump(source, target):
    try:
        while data := source.recv(65536):
            # Half a connection that is lost says nothing, and hears nothing.
            with lock:
                if source in held or target in held:
                    return
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        with lock:
            if source in held or target in held:
                return
        drop(source)
        drop(target)


def serve(client, port):
    with lock:
        if is_lost:
            held.add(client)
            return
    try:
        upstream = socket.create_connection(("127.0.0.1", port))
    except OSError:
        drop(client)
        return
    with lock:
        open_sockets.update((client, upstream))
    back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
    back.start()
    pump(client, upstream)
    back.join()
    with lock:
        open_sockets.difference_update((client, upstream))


def lose(reset):
    global is_lost
    with lock:
        is_lost = True
        ending = set(open_sockets)
        open_sockets.clear()
        if not reset:
            held.update(ending)
            return
    for sock in ending:
        drop(sock)


def heal():
    global is_lost
    with lock:
        is_lost = False
        ending = set(held)
        held.clear()
    for sock in ending:
        drop(sock)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=int, required=True)
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, options.to), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    stage.tell("listening", port=listener.getsockname()[1])
    commands = {"lose": lose, "heal": heal}
    for line in sys.stdin:
        arguments = json.loads(line)
        name = arguments.pop("do")
        commands[name](**arguments)
        stage.tell("done", what=name)
    os._exit(0)


if __name__ == "__main__":
    main()
