#!/usr/bin/env bash
# DuckLake of DuckDB 1.5.5 (PyPI: duckdb, duckdb_extension_ducklake, duckdb_extension_sqlite_scanner) with a catalog in
# SQLite.
# Guess: a cursor that reads in a transaction sees its snapshot, and another one of the same process inserts meanwhile.
# Found: the catalog has SQLite's rollback journal, so the insert fails after five seconds ("database is locked"). From
# then on every statement of the process fails so, also a count by a new cursor after the reader has committed, because
# the transaction that failed keeps its lock until the process ends.
# What to do: a catalog in PostgreSQL, or short transactions and a new connection after this error.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q duckdb==1.5.5 duckdb_extension_ducklake==1.5.5 duckdb_extension_sqlite_scanner==1.5.5
cat >lake.py <<'PY'
import importlib
from pathlib import Path
import duckdb

def connected():
    connection = duckdb.connect()
    for name in ('ducklake', 'sqlite_scanner'):
        package = Path(importlib.import_module(f'duckdb_extension_{name}').__file__).parent
        connection.execute(f"LOAD '{next(package.glob('extensions/*/*.duckdb_extension'))}'")
    connection.execute("ATTACH 'ducklake:sqlite:catalog.sqlite' AS lake (DATA_PATH 'data')")
    return connection

def attempt(what, connection, sql):
    try:
        print(what, connection.execute(sql).fetchall())
    except duckdb.Error as error:
        print(what, str(error).rsplit(': ', 1)[-1])
PY
cat >try.py <<'PY'
from lake import attempt, connected
lake = connected()
lake.execute('CREATE TABLE lake.t (n INTEGER)')
reader, writer = lake.cursor(), lake.cursor()
attempt('insert', writer, 'INSERT INTO lake.t VALUES (1)')
reader.execute('BEGIN')
attempt('read', reader, 'SELECT count(*) FROM lake.t')
attempt('insert meanwhile', writer, 'INSERT INTO lake.t VALUES (2)')
reader.execute('COMMIT')
attempt('read afterwards', lake.cursor(), 'SELECT count(*) FROM lake.t')
PY
seen=$(venv/bin/python try.py)
seen+=$'\n'$(venv/bin/python -c "from lake import *; attempt('next process', connected(), 'SELECT count(*) FROM lake.t')")
expected="insert [(1,)]
read [(1,)]
insert meanwhile database is locked
read afterwards database is locked
next process [(1,)]"
echo "$seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
