#!/usr/bin/env python3
"""hub.py NAME...: GitHub, as far as the issues, labels and milestones of the repositories of these names go; the last one is not there,
and the first has another name by now.

Lists come in pages with Link headers, at most PAGE records each; each page has an ETag, and every answer says how many requests are left. `since`
leaves out what was changed before. A repository may be called otherwise, and is found under its old name by a redirect.

Commands: change, watch and truth as of service.World | limit (the next request finds that none is left)."""

import argparse
import hashlib
import json
import time
from datetime import datetime, timezone
from urllib.parse import parse_qs, urlencode, urlsplit

import service
import stage

PAGE = 4
world = None


def text(moment):
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Hub(service.World):
    def __init__(self, names):
        super().__init__()
        self.left = 5000
        self.is_limited = False
        self.names, self.repositories, self.issues, self.labels, self.milestones = {}, {}, {}, {}, {}
        self.users = {i: f"user{i}" for i in range(1, 6)}
        for name in names[:-1]:
            repository = self.number()
            self.names[name] = repository
            self.repositories[repository] = name
            for kind in (self.labels, self.milestones):
                for _ in range(2):
                    self.add(kind, repository)
            for _ in range(self.random.randrange(7)):
                self.create(repository)
        self.rename(1)

    def add(self, kind, repository):
        number = self.number()
        kind[number] = {"repository": repository, "name": f"n{number}"}

    def create(self, repository, title=None):
        number = self.number()
        self.issues[number] = {
            "repository": repository, "title": title or f"Ärger {number}", "state": "open", "user": self.random.choice([None, *self.users]),
            "milestone": None, "labels": set(), "assignees": set(), "isPull": self.random.randrange(4) == 0, "updated": self.tick(),
        }
        return number

    def rename(self, repository):
        name = f"{self.repositories[repository]}-{self.number()}"
        self.names[name], self.repositories[repository] = repository, name

    def of(self, kind, repository):
        return sorted(number for number, thing in kind.items() if thing["repository"] == repository)

    def touch(self, issue, **values):
        issue.update(values, updated=self.tick())

    def step(self):
        what, repository = self.random.randrange(12), self.random.choice(sorted(self.repositories))
        numbers = self.of(self.issues, repository)
        if what == 0 or not numbers:
            self.create(repository)
            return
        number = self.random.choice(numbers)
        issue = self.issues[number]
        if what == 1:
            self.issues.pop(number)
        elif what == 2:  # moved to another repository, where it has another number
            self.issues.pop(number)
            self.create(self.random.choice(sorted(self.repositories)), issue["title"])
        elif what == 3:
            self.touch(issue, labels=issue["labels"] ^ {self.random.choice(self.of(self.labels, repository))})
        elif what == 4:
            self.touch(issue, milestone=self.random.choice([None, *self.of(self.milestones, repository)]))
        elif what == 5:
            self.touch(issue, assignees=issue["assignees"] ^ {self.random.choice(sorted(self.users))})
        elif what == 6:
            self.touch(issue, state="closed" if issue["state"] == "open" else "open")
        elif what == 7:  # what others are called changes none of the issues that name it
            kind = self.random.choice([self.labels, self.milestones])
            kind[self.random.choice(self.of(kind, repository))]["name"] = f"n{self.number()}"
        elif what == 8:
            self.add(self.random.choice([self.labels, self.milestones]), repository)
        elif what == 9:
            self.rename(repository)
        else:
            self.meddle(number)

    def meddle(self, number=None):
        """What may happen while a list is read: an issue is changed, or one is new."""
        if number is None:
            if self.random.randrange(3) == 0 or not self.issues:
                self.create(self.random.choice(sorted(self.repositories)))
                return
            number = self.random.choice(sorted(self.issues))
        self.touch(self.issues[number], title=f"Ärger {number} · {self.number()}")

    # What is told.

    def repository(self, number):
        name = self.repositories[number]
        return {"id": number, "name": name, "full_name": f"apple/{name}", "owner": {"id": 1000, "login": "apple"}}

    def label(self, number):
        return {"id": number, "name": self.labels[number]["name"], "color": "ff0000"}

    def milestone(self, number):
        return {"id": number, "title": self.milestones[number]["name"], "state": "open"}

    def user(self, number):
        return {"id": number, "login": self.users[number]}

    def issue(self, number):
        issue = self.issues[number]
        told = {
            "id": number, "number": number, "title": issue["title"], "state": issue["state"], "updated_at": text(issue["updated"]),
            "user": issue["user"] and self.user(issue["user"]), "labels": [self.label(i) for i in sorted(issue["labels"])],
            "assignees": [self.user(i) for i in sorted(issue["assignees"])], "milestone": issue["milestone"] and self.milestone(issue["milestone"]),
        }
        return {**told, "pull_request": {"url": f"https://api.github.com/pulls/{number}"}} if issue["isPull"] else told

    def rows(self):
        for number, name in self.repositories.items():
            yield "repository", (number, f"apple/{name}")
        for name, kind in (("label", self.labels), ("milestone", self.milestones)):
            for number, thing in kind.items():
                yield name, (number, thing["name"], thing["repository"])
        for number, issue in self.issues.items():
            if issue["isPull"]:
                continue
            yield "issue", (number, issue["repository"], issue["title"], issue["state"], issue["user"], issue["milestone"])
            for name in ("labels", "assignees"):
                for other in issue[name]:
                    yield name, (number, other)

    def limit(self):
        self.is_limited = True

    @property
    def commands(self):
        return {**super().commands, "limit": self.limit}


class Handler(stage.Handler):
    def do_GET(self):
        with world.lock:
            self.answer()
            world.answered()

    def answer(self):
        url = urlsplit(self.path)
        parts, query = url.path.strip("/").split("/"), {name: values[0] for name, values in parse_qs(url.query).items()}
        world.left -= 1
        if self.headers.get("Authorization") != "Bearer sesame":
            self.say(401, {"message": "Bad credentials"})
        elif world.is_limited:
            world.is_limited, world.left = False, 0
            self.say(403, {"message": "API rate limit exceeded"}, [("Retry-After", "1")])
            world.left = 5000
        elif parts[0] == "repositories":
            self.list(int(parts[1]), parts[2:], query)
        elif parts[:2] == ["repos", "apple"] and parts[2] in world.names:
            number = world.names[parts[2]]
            if world.repositories[number] == parts[2]:
                self.list(number, parts[3:], query)
            else:
                place = "/".join(["/repositories", str(number), *parts[3:]])
                self.say(301, {"message": "Moved Permanently"}, [("Location", self.here(place, query))])
        else:
            self.say(404, {"message": "Not Found"})

    def list(self, number, kind, query):
        if not kind:
            self.say(200, world.repository(number))
            return
        records = []
        if kind == ["issues"]:
            found = [i for i in world.of(world.issues, number) if text(world.issues[i]["updated"]) >= query.get("since", "")]
            records = [world.issue(i) for i in found]
        elif kind == ["labels"]:
            records = [world.label(i) for i in world.of(world.labels, number)]
        elif kind == ["milestones"]:
            records = [world.milestone(i) for i in world.of(world.milestones, number)]
        page, size = int(query.get("page", 1)), min(PAGE, int(query["per_page"]))
        headers = []
        if page * size < len(records):
            next_page = self.here(f"/repositories/{number}/{kind[0]}", {**query, "page": page + 1})
            headers.append(("Link", f'<{next_page}>; rel="next"'))
        self.say(200, records[(page - 1) * size:page * size], headers)

    def here(self, path, query):
        return f"http://127.0.0.1:{self.server.server_port}{path}" + (f"?{urlencode(query)}" if query else "")

    def say(self, status, told, headers=()):
        body = json.dumps(told).encode()
        tag = hashlib.sha256(body + repr(headers).encode()).hexdigest()
        # Where none is left there are more in a moment.
        reset = int(time.time()) + (3600 if world.left else 1)
        left = [("X-RateLimit-Limit", "5000"), ("X-RateLimit-Remaining", str(world.left)), ("X-RateLimit-Reset", str(reset))]
        kind = ("Content-Type", "application/json; charset=utf-8")
        self.reply(status, body, [kind, *headers, *left], etag=f'W/"{tag}"' if status == 200 else None)


def main():
    global world
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    world = Hub(parser.parse_args().names)
    stage.serve(Handler, world.commands)


if __name__ == "__main__":
    main()
