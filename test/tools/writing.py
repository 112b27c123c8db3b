"""What the scripts that have files written share: tables of values, and the list of what was written."""

import base64
import datetime
import decimal
import importlib.util
import math
import random
import sys
from pathlib import Path

folder = Path(sys.argv[1]).resolve()
FILES = 10
TEXTS = ["é", "a b", "007", "2024-01-01", "Ж" * 300, "1", "NA", "TRUE", "two\nlines", 'b"x,y', "日本", "<&>'", "1e5", "-"]
NAMES = ["id", "Größe", "a b", "order", "x.y", "日", "select", "Total (€)", "n", "_", "A", "Column 7"]


def table(seed, kinds, texts=TEXTS, names=NAMES):
    """Names, kinds and rows of a table: every kind once, then some of them again, with nulls in most columns."""
    rand = random.Random(seed)
    chosen = [*kinds, *rand.choices(kinds, k=rand.randint(0, 4))][: len(names)]
    nulls = [0 if at == 0 else rand.choice([0, 0.1, 0.6]) for at in range(len(chosen))]
    make = {
        "integer": lambda: rand.choice([0, 1, -1, rand.randint(-(10**6), 10**6), rand.randint(-(2**31), 2**31 - 1)]),
        "long": lambda: rand.choice([rand.randint(-(2**63), 2**63 - 1), 2**53 + 1, -(2**63), 2**63 - 1]),
        "double": lambda: rand.choice([0.1, -2.5, 1e-7, 1e300, 123456789.125, rand.random(), rand.gauss(0, 1e6)]),
        "short": lambda: round(rand.gauss(0, 1e6), rand.randint(1, 6)),
        "text": lambda: rand.choice(texts) + rand.choice(["", "", str(rand.randint(0, 9))]),
        "day": lambda: datetime.date(1901, 1, 1) + datetime.timedelta(rand.randint(0, 60_000)),
        "moment": lambda: datetime.datetime(1901, 1, 1) + datetime.timedelta(rand.randint(0, 60_000), rand.randint(1, 86_399)),
        "micros": lambda: datetime.datetime(1901, 1, 1) + datetime.timedelta(rand.randint(0, 60_000), 0, rand.randint(1, 10**9)),
        "boolean": lambda: rand.random() < 0.5,
        "decimal": lambda: decimal.Decimal(rand.randint(-(10**12), 10**12)).scaleb(-4),
        "bytes": lambda: rand.randbytes(rand.randint(0, 9)),
    }
    count = 1 + seed * 17
    rows = [[None if rand.random() < share else make[kind]() for kind, share in zip(chosen, nulls)] for _ in range(count)]
    for at, kind in enumerate(chosen):
        # A column of nulls has no type by which it could be read.
        rows[0][at] = make[kind]()
    return names[: len(chosen)], chosen, rows


def cell(value):
    """A value with its kind, so that a text of digits is no number."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or str(value) == "NaT":
        return None
    if isinstance(value, bool):
        return ["boolean", str(value).lower()]
    if isinstance(value, (int, float, decimal.Decimal)):
        return ["number", str(value)]
    if isinstance(value, datetime.datetime):
        return ["time", value.replace(tzinfo=None).isoformat()]
    if isinstance(value, (datetime.date, datetime.time)):
        return ["time", value.isoformat()]
    if isinstance(value, bytes):
        return ["text", base64.b64encode(value).decode()]
    return ["text", str(value)]


written = []


def add(program, path, names, rows, query=""):
    found = [[cell(value) for value in row] for row in rows]
    written.append({"program": program, "file": path.name, "query": query, "columns": list(names), "rows": found})


def needs(program, *modules):
    """A decorator: writes the files of a program where its modules are here."""

    def run(write):
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            print(f"{program}: NOT RUN, there is no {', '.join(missing)}")
            return
        for seed in range(FILES):
            write(program, seed)

    return run
