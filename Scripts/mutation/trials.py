"""Runs the tests against one mutant after the other."""
import json
import os
import re
import selectors
import signal
import subprocess
import tempfile
import threading
import time

#: Suites that take longer than this, in seconds, are asked last, one after the other.
QUICK = 3.0
#: Both targets that test the object graph, as a pattern.
TARGET = "(?:Open)?CoreDataTests"


class Suite:
    def __init__(self, name):
        self.name, self.duration, self.reached, self.noticed = name, 0.0, set(), 0


class Trials:
    """
    - search: how long, in seconds, a suite that takes long may look for one mutant.
    """

    def __init__(self, checkout, search, say):
        self.checkout, self.search, self.say = checkout, search, say
        #: How long, in seconds, it is watched what a suite comes by.
        self.enough = 3 * search
        self.lock = threading.Lock()
        self.suites = []

    def run(self, suites, mutant, limit, reached=None):
        """What the tests said first that showed the mutant; "" for nothing, None where the limit was reached."""
        names = "|".join(suite.name for suite in suites)
        environment = dict(os.environ, CISTERN_MUTANT=str(mutant))
        environment.pop("CISTERN_REACHED", None)
        if reached:
            environment["CISTERN_REACHED"] = reached
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            environment["TMPDIR"] = folder
            process = subprocess.Popen(
                [self.checkout.program, "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width", "4",
                 "--filter", rf"^{TARGET}\.({names})/"],
                cwd=self.checkout.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True)
            try:
                return self.follow(process, time.monotonic() + limit)
            finally:
                # It leads a session of its own: all that it started ends with it.
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
                process.stdout.close()

    def follow(self, process, deadline):
        selector, rest = selectors.DefaultSelector(), b""
        selector.register(process.stdout, selectors.EVENT_READ)
        last = ""
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if not selector.select(left):
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                code = process.wait()
                return "" if code == 0 else f"the process ended: {last or code}"
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            for line in lines:
                words = line.decode(errors="replace")
                found = re.match(r"\S+ Test (\S+?\(.*?\)|\S+) recorded an issue", words)
                if found:
                    return found.group(1)
                if "Fatal error" in words or "rash" in words:
                    last = words.strip()[:160]

    def measure(self, mutants):
        """Which suites reach which mutants, and how long they take."""
        listed = subprocess.run(
            [self.checkout.program, "--testing-library", "swift-testing", "--list-tests"], cwd=self.checkout.folder, capture_output=True, text=True)
        names = sorted(set(re.findall(rf"(?m)^{TARGET}\.(\w+)/", listed.stdout)))
        waiting = [Suite(name) for name in names if not name.endswith("Stress")]
        self.each(waiting, lambda suite: self.measure_suite(suite, mutants))
        self.suites.sort(key=lambda suite: suite.duration)

    def measure_suite(self, suite, mutants):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\0" * (max(mutant.number for mutant in mutants) + 1))
            file.flush()
            for attempt in range(2):
                begin = time.monotonic()
                said = self.run([suite], -1, self.enough, file.name)
                suite.duration = time.monotonic() - begin
                # A search that goes on says by then what it comes by.
                if not said:
                    break
            file.seek(0)
            suite.reached = {number for number, byte in enumerate(file.read()) if byte}
        with self.lock:
            if not said:
                self.suites.append(suite)
                self.say(f"{suite.duration:7.1f} s, {len(suite.reached):5} reached  {suite.name}")
            else:
                self.say(f"LEFT OUT: {suite.name} fails without any mutant: {said}")

    def remember(self, path):
        json.dump([[suite.name, suite.duration, sorted(suite.reached)] for suite in self.suites], open(path, "w"))

    def recall(self, path):
        for name, duration, reached in json.load(open(path)):
            suite = Suite(name)
            suite.duration, suite.reached = duration, set(reached)
            self.suites.append(suite)

    def each(self, things, body, width=2):
        """Two at a time."""
        things = list(things)

        def work():
            while True:
                with self.lock:
                    if not things:
                        return
                    thing = things.pop(0)
                body(thing)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(width)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def verdict(self, mutant, only):
        """Which test noticed a mutant; "" if none did, None if none comes by it."""
        asked = [suite for suite in self.suites if mutant.number in suite.reached and (not only or re.search(only, suite.name))]
        if not asked:
            return None
        with self.lock:
            # Those that notice most, and those that are about little else, come first.
            asked.sort(key=lambda suite: (-suite.noticed / (1 + suite.duration), len(suite.reached)))
        quick, slow = [suite for suite in asked if suite.duration <= QUICK], [suite for suite in asked if suite.duration > QUICK]
        groups, size = [[]], 2.0
        for suite in quick:
            if groups[-1] and sum(one.duration for one in groups[-1]) + suite.duration > size:
                groups.append([])
                size *= 2
            groups[-1].append(suite)
        for group in groups + [[suite] for suite in sorted(slow, key=lambda suite: suite.duration)]:
            if not group:
                continue
            duration = sum(suite.duration for suite in group)
            # What goes on three times as long as without the mutant does not come to its end.
            patience, is_search = 30 + 4 * duration, group[0] in slow
            is_endless = is_search and (duration >= self.enough or self.search < patience)
            said = self.run(group, mutant.number, self.search if is_endless else patience)
            if said is None and is_endless:
                continue
            if said != "":
                found = next((suite for suite in group if said and said.startswith(suite.name)), group[0])
                with self.lock:
                    found.noticed += 1
                return said or f"{'|'.join(suite.name for suite in group)[:80]} does not come to its end"
        return ""
