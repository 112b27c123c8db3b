#!/usr/bin/env bash
# DuckDB 2.0.0 and 1.5.5 (PyPI) on a Parquet file of hyparquet-writer 0.17.0 (npm): a list whose repeated group is named
# `array` and has one field, as parquet-avro and parquet-thrift wrote lists of objects for years.
# Guess: [{quantity: 1}, {quantity: 2}], by the rules for older files in Parquet's LogicalTypes.md, as pyarrow 26.0.1
# and polars 2.1.0 read it.
# Found: [1, 2]: the objects are gone, and the name of the field with them.
# What to do: write the file anew by a program that annotates lists in three levels.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund hyparquet-writer@0.17.0
cat >make.mjs <<'JS'
import { writeFileSync } from 'node:fs'
import { parquetWriteBuffer } from 'hyparquet-writer'
const schema = [
  { name: 'root', num_children: 1 },
  { name: 'items', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
  { name: 'array', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'quantity', repetition_type: 'REQUIRED', type: 'INT32' },
]
writeFileSync('items.parquet', Buffer.from(parquetWriteBuffer({ schema, columnData: [{ name: 'items', data: [[1, 2]] }] })))
JS
node make.mjs
python3 -m venv venv
venv/bin/pip install -q pyarrow==26.0.1 polars==2.1.0
cat >try.py <<'PY'
import duckdb
print('DuckDB', duckdb.__version__, duckdb.connect().execute("FROM 'items.parquet'").fetchall()[0][0])
PY
seen=''
for version in 1.5.5 2.0.0; do
  venv/bin/pip install -q duckdb==$version
  seen+="$(venv/bin/python try.py)"$'\n'
done
seen+=$(venv/bin/python -c "
import polars, pyarrow.parquet
print('pyarrow', pyarrow.parquet.read_table('items.parquet').to_pylist()[0]['items'])
print('polars', polars.read_parquet('items.parquet').to_dicts()[0]['items'])")
expected="DuckDB 1.5.5 [1, 2]
DuckDB 2.0.0 [1, 2]
pyarrow [{'quantity': 1}, {'quantity': 2}]
polars [{'quantity': 1}, {'quantity': 2}]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
