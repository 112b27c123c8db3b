"""Runs statements of a file in the DuckDB of this Python: python replay.py statements.ndjson FROM FOLDER.

Begins with the line FROM. Prints a line of JSON for each: the types of its columns, how many rows it gives, the first
of them as text, and a hash of all in their order and of all sorted; or its error. A file that is written is read again.
"""

import hashlib
import json
import os
import re
import sys
import threading

import duckdb

path, first, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SETTINGS = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "preserve_insertion_order": "true",
    "temp_directory": folder,
    "threads": "2",
}
plain = duckdb.connect(config=SETTINGS)
upload = duckdb.connect(config={**SETTINGS, "disabled_optimizers": "statistics_propagation,filter_pushdown"})
for database in (plain, upload):
    database.execute("SET GLOBAL TimeZone = 'UTC'")
# Versions have their own names for it.
UTC = re.compile(r"tzinfo=(<UTC>|zoneinfo\.ZoneInfo\(key='UTC'\))")
WRITTEN = re.compile(r"(\) TO )'((?:[^']|'')*)'")


# Some statements of tests wait until they are stopped.
LONGEST_SECONDS = 20


def rows_of(cursor, sql, parameters):
    cursor.execute(sql, parameters)
    types = [str(column[1]) for column in cursor.description or []]
    return types, [UTC.sub("UTC", repr(row)) for row in cursor.fetchall()]


def digest(rows):
    return hashlib.sha1("\n".join(rows).encode("utf8", "surrogatepass")).hexdigest()


def outcome(cursor, statement):
    sql, parameters = statement["sql"], statement["parameters"]
    target = os.path.join(folder, "written")
    writes = sql.lstrip().upper().startswith("COPY") and WRITTEN.search(sql)
    if writes:
        sql = WRITTEN.sub(lambda found: f"{found[1]}'{target}'", sql)
    types, rows = rows_of(cursor, sql, parameters)
    if writes and "PARQUET" in sql.upper():
        types, rows = rows_of(cursor, f"FROM read_parquet('{target}')", [])
    return {"types": types, "count": len(rows), "rows": [row[:2_000] for row in rows[:20]], "hash": digest(rows), "sorted": digest(sorted(rows))}


with open(path, encoding="utf8") as lines:
    for number, line in enumerate(lines):
        if number < first:
            continue
        statement = json.loads(line)
        cursor = (upload if statement["isUpload"] else plain).cursor()
        timer = threading.Timer(LONGEST_SECONDS, cursor.interrupt)
        timer.start()
        try:
            answer = outcome(cursor, statement)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        finally:
            timer.cancel()
        print(json.dumps(answer), flush=True)
