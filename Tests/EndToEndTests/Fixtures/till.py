#!/usr/bin/env python3
"""till.py: Stripe, as far as an account's customers, charges and subscriptions go.

Lists begin with the newest, have at most PAGE records and say whether there are more; `starting_after` is the id of a record, which has to be there, and
`created[gte]` leaves out what is older. A charge names its customer, or holds it where that is asked for; a subscription holds its first items. Every
error is JSON.

Commands: change, watch and truth as of service.World | busy status (the next request fails with that status, and would not if it were made again)."""

import argparse
import json
from urllib.parse import parse_qs, urlsplit

import service
import stage

PAGE, INNER = 5, 3
PRICES = ["price_1", "price_2"]
world = None


class Till(service.World):
    def __init__(self):
        super().__init__()
        self.busy = None
        # The customer that the next page begins after.
        self.last = None
        self.things = {kind: {} for kind in ("customer", "charge", "subscription")}
        for _ in range(40):
            self.create()

    def create(self, kind=None):
        customers = sorted(self.things["customer"])
        kind = kind or (self.random.choice(["customer", "charge", "charge", "subscription"]) if customers else "customer")
        number = self.number()
        values = {"id": f"{kind[:3]}_{number:06}", "object": kind, "created": self.tick()}
        if kind == "customer":
            values.update(email=f"{number}@example.org", name=None, balance=0)
        elif kind == "charge":
            values.update(amount=number * 100, currency="eur", status="pending", customer=self.random.choice([None, *customers]))
        else:
            values.update(status="active", customer=self.random.choice(customers), items={})
        self.things[kind][values["id"]] = values
        if kind == "subscription":
            for _ in range(self.random.randrange(7)):
                self.add_item(values)

    def add_item(self, subscription):
        key = f"si_{self.number():06}"
        subscription["items"][key] = {
            "id": key, "object": "subscription_item", "created": self.tick(), "quantity": 1, "subscription": subscription["id"],
            "price": {"id": self.random.choice(PRICES), "object": "price", "unit_amount": 900, "currency": "eur"},
        }

    def step(self):
        what, kind = self.random.randrange(10), self.random.choice(sorted(self.things))
        if what < 3 or not self.things[kind]:
            self.create()
            return
        key = self.random.choice(sorted(self.things[kind]))
        thing = self.things[kind][key]
        if kind == "customer":
            if what < 5:
                self.remove(key)
            else:
                thing.update(name=f"Ärger {self.number()}", balance=self.random.randrange(-500, 500))
        elif kind == "charge":
            thing.update(status=self.random.choice(["succeeded", "failed", "pending"]))
        elif what < 6:
            self.add_item(thing)
        elif what < 9 and thing["items"]:
            item = self.random.choice(sorted(thing["items"]))
            if what == 6:
                thing["items"].pop(item)
            else:
                thing["items"][item]["quantity"] = self.number()
        else:
            thing.update(status=self.random.choice(["active", "past_due", "canceled"]))

    def remove(self, customer):
        """Charges and subscriptions go on naming a customer that is gone."""
        self.things["customer"].pop(customer)

    def meddle(self):
        """What may happen while a list is read: something is new, or what the next page is to begin after is gone."""
        if self.last in self.things["customer"]:
            self.remove(self.last)
        else:
            self.create()

    def there(self, customer):
        """A customer that is there; one that is gone is no row of a mirror."""
        return customer if customer in self.things["customer"] else None

    def rows(self):
        for thing in self.things["customer"].values():
            yield "customer", (thing["id"], thing["email"], thing["name"], thing["balance"])
        for thing in self.things["charge"].values():
            yield "charge", (thing["id"], thing["amount"], thing["status"], self.there(thing["customer"]))
        for thing in self.things["subscription"].values():
            yield "subscription", (thing["id"], thing["status"], self.there(thing["customer"]))
            for item in thing["items"].values():
                yield "item", (item["id"], item["quantity"], item["price"]["id"], item["subscription"])

    def fail(self, status):
        self.busy = status

    @property
    def commands(self):
        return {**super().commands, "busy": self.fail}


class Handler(stage.Handler):
    def do_GET(self):
        with world.lock:
            self.answer()
            world.answered()

    def answer(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        kind = url.path.removeprefix("/v1/").removesuffix("s")
        if self.headers.get("Authorization") != "Bearer sesame":
            self.fail(401, "Invalid API Key provided")
        elif world.busy:
            status, world.busy = world.busy, None
            self.fail(status, "Another request is in progress", [("Retry-After", "1"), ("Stripe-Should-Retry", "true")])
        elif kind == "subscription_item" and query.get("subscription") in world.things["subscription"]:
            items = world.things["subscription"][query["subscription"]]["items"]
            self.list(url.path, [items[key] for key in sorted(items)], query)
        elif kind in world.things:
            newest = sorted(world.things[kind].values(), key=lambda thing: (thing["created"], thing["id"]), reverse=True)
            self.list(url.path, newest, query)
        else:
            self.fail(404, f"Unrecognized request URL (GET: {url.path})")

    def list(self, path, things, query):
        found = [thing for thing in things if thing["created"] >= int(query.get("created[gte]", 0))]
        if "starting_after" in query:
            places = [place for place, thing in enumerate(found) if thing["id"] == query["starting_after"]]
            if not places:
                self.fail(400, f"No such object: '{query['starting_after']}'")
                return
            found = found[places[0] + 1:]
        size = min(PAGE, int(query["limit"]))
        if path == "/v1/customers":
            world.last = found[size - 1]["id"] if len(found) > size else None
        told = {"object": "list", "url": path, "has_more": len(found) > size, "data": [self.told(thing, query) for thing in found[:size]]}
        self.reply(200, json.dumps(told).encode(), [("Content-Type", "application/json")])

    def told(self, thing, query):
        told = dict(thing)
        if "items" in thing:
            items = [thing["items"][key] for key in sorted(thing["items"])]
            told["items"] = {"object": "list", "has_more": len(items) > INNER, "data": items[:INNER]}
        if query.get("expand[]") == "data.customer" and thing["customer"]:
            gone = {"id": thing["customer"], "object": "customer", "deleted": True}
            told["customer"] = world.things["customer"].get(thing["customer"], gone)
        return told

    def fail(self, status, message, headers=()):
        body = json.dumps({"error": {"type": "api_error", "message": message}}).encode()
        self.reply(status, body, [("Content-Type", "application/json"), *headers])


def main():
    global world
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    world = Till()
    stage.serve(Handler, world.commands)


if __name__ == "__main__":
    main()
