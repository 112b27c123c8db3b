"""Appends to a DuckLake whose catalog is a file of SQLite, which takes inserts of few rows itself.

try                                 ends with 0 if the packages are there
FOLDER CLIENTS MILLISECONDS TABLES  one row a transaction, each client a thread with a cursor; prints the figures as JSON
"""

import importlib
import json
import sys
import threading
import time
from pathlib import Path

import duckdb


def connected():
    connection = duckdb.connect()
    for name in ('ducklake', 'sqlite_scanner'):
        package = Path(importlib.import_module(f'duckdb_extension_{name}').__file__).parent
        connection.execute(f"LOAD '{next(package.glob(f'extensions/*/{name}.duckdb_extension'))}'")
    return connection


def append(cursor, table, end, times, refused):
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            cursor.execute(
                f'INSERT INTO lake.events{table} VALUES (?, ?, ?, ?)',
                [len(times), '2026-11-21T10:00:00', 'a place', 1.5],
            )
            times.append((time.monotonic() - start) * 1000)
        except duckdb.Error:
            # The catalog is locked by another one.
            refused.append(start)


def main(folder, clients, milliseconds, tables):
    connection = connected()
    connection.execute(f"ATTACH 'ducklake:sqlite:{folder}/catalog.sqlite' AS lake (DATA_PATH '{folder}/data')")
    for table in range(tables):
        connection.execute(
            f'CREATE TABLE lake.events{table} (n BIGINT, "at" TIMESTAMP, place VARCHAR, value DOUBLE)'
        )
    times, refused = [], []
    begun = time.monotonic()
    end = begun + milliseconds / 1000
    threads = [
        threading.Thread(target=append, args=(connection.cursor(), n % tables, end, times, refused))
        for n in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times.sort()
    rate = len(times) / (time.monotonic() - begun)
    p99 = times[int(len(times) * 0.99)] if times else 0
    print(json.dumps({'rate': rate, 'p99': p99, 'refused': len(refused)}))


if sys.argv[1:] == ['try']:
    connected()
else:
    folder, *numbers = sys.argv[1:]
    main(folder, *map(int, numbers))
