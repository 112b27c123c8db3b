import json

import duckdb
import pyarrow as pa
from common import serve

KINDS = {
    "integer": "BIGINT",
    "string": "VARCHAR",
    "timestamptz": "TIMESTAMPTZ",
    "binary": "BLOB",
}

database = duckdb.connect()
database.execute("SET TimeZone = 'UTC'")


def column(source):
    rows = database.execute(f"SELECT value FROM {source} ORDER BY n").fetchall()
    return [value for (value,) in rows]


def arrow(path):
    read = pa.ipc.open_stream(path).read_all()
    database.register("read", read)
    return column("read")


def fill(numbers, values, kind):
    database.execute(f"CREATE OR REPLACE TABLE made (n BIGINT, value {KINDS.get(kind, kind)})")
    database.executemany("INSERT INTO made VALUES (?, ?)", [list(row) for row in zip(numbers, values)])


def writer(options):
    def write(path, numbers, values, kind):
        if kind == "json" and options.startswith("JSON"):
            values = [None if value is None else json.dumps(value) for value in values]
        fill(numbers, values, kind)
        database.execute(f"COPY made TO '{path}' (FORMAT {options})")

    return write


def write_arrow(path, *made):
    fill(*made)
    read = database.execute("FROM made").to_arrow_table()
    with pa.ipc.new_stream(path, read.schema) as file:
        file.write_table(read)


serve(
    {
        "csv": lambda path: column(f"read_csv('{path}')"),
        "tsv": lambda path: column(f"read_csv('{path}', delim = '\t')"),
        "json": lambda path: column(f"read_json('{path}')"),
        "ndjson": lambda path: column(f"read_json('{path}')"),
        "parquet": lambda path: column(f"'{path}'"),
        "arrow": arrow,
    },
    {
        "csv": writer("CSV, HEADER"),
        "tsv": writer("CSV, HEADER, DELIMITER '\t'"),
        "json": writer("JSON, ARRAY true"),
        "ndjson": writer("JSON"),
        "parquet": writer("PARQUET"),
        "arrow": write_arrow,
    },
)
