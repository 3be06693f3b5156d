"""What the servers share that act like a service: a world that changes at random, and tells what it is, so that a mirror can be compared with it."""

import random
import threading
import time
from pathlib import Path


class World:
    """A world with a clock of its own, which stands at the beginning of 2025 and goes on by seven minutes with every change. What happens while it is
    watched happens now, and so does all that comes after it.

    Commands: change seed count (so many random changes) | watch seed every (one such change behind every so many answers; 0: none)
    | truth (what there is, into the file `truth` of the working folder, a line `NAME:ROW` each)."""

    def __init__(self):
        self.lock = threading.RLock()
        self.now, self.is_past = 1_735_689_600, True
        self.numbers = 0
        self.random = random.Random(1)
        self.every, self.answers = 0, 0

    def number(self):
        self.numbers += 1
        return self.numbers

    def tick(self):
        self.now = self.now + 420 if self.is_past else max(self.now, int(time.time()))
        return self.now

    def change(self, seed, count):
        with self.lock:
            self.random.seed(seed)
            for _ in range(count):
                self.step()

    def watch(self, seed, every):
        with self.lock:
            self.random.seed(seed)
            self.every, self.answers = every, 0

    def answered(self):
        """An answer was made: the world may go on before the next one is."""
        self.answers += 1
        if self.every and self.answers % self.every == 0:
            self.is_past = False
            self.meddle()

    def tell(self):
        with self.lock:
            lines = [f"{name}:{'|'.join('' if value is None else str(value) for value in row)}" for name, row in self.rows()]
        Path("truth").write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")

    @property
    def commands(self):
        return {"change": self.change, "watch": self.watch, "truth": self.tell}
