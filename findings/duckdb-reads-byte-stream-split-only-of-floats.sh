#!/usr/bin/env bash
# DuckDB 1.5.5 and 2.0.0 (PyPI) on Parquet files of pyarrow 26.0.1 with the encoding BYTE_STREAM_SPLIT, which since version
# 2.11 of the format is for integers and bytes of fixed length (UUID, FLOAT16) as well as for floats.
# Guess: all are read.
# Found: float and double are, and integers by 2.0.0. Every other type is an error that names neither the column nor the
# file.
# What to do: use_byte_stream_split only for columns of floats, or read the file with pyarrow or polars.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pyarrow==26.0.1
cat >make.py <<'PY'
import pyarrow as pa, pyarrow.parquet as pq
kinds = {'double': pa.array([1.5]), 'integer': pa.array([1]), 'bytes': pa.array([b'abc'], pa.binary(3)),
         'float16': pa.array([1.5], pa.float16())}
for name, values in kinds.items():
    pq.write_table(pa.table({'v': values}), f'{name}.parquet', use_dictionary=False, column_encoding={'v': 'BYTE_STREAM_SPLIT'})
PY
venv/bin/python make.py
cat >try.py <<'PY'
import duckdb
for name in ('double', 'integer', 'bytes', 'float16'):
    try:
        found = duckdb.connect().execute(f"FROM '{name}.parquet'").fetchall()[0][0]
    except duckdb.Error as error:
        found = 'error' if 'BYTE_STREAM_SPLIT' in str(error) else str(error)
    print(duckdb.__version__, name, found)
PY
seen=''
expected=''
for version in 1.5.5 2.0.0; do
  venv/bin/pip install -q duckdb==$version
  seen+="$(venv/bin/python try.py)"$'\n'
  integer=$([ $version = 2.0.0 ] && echo 1 || echo error)
  expected+="$version double 1.5"$'\n'"$version integer $integer"$'\n'"$version bytes error"$'\n'"$version float16 error"$'\n'
done
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
