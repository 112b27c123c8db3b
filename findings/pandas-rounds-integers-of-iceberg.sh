#!/usr/bin/env bash
# pandas 3.1.1 (PyPI), `read_iceberg`, on an Iceberg table of pyiceberg 0.12.0 with a column of 64-bit integers and a null.
# Guess: the integers are kept, or `dtype_backend` keeps them, as in `read_parquet`.
# Found: the column becomes doubles, without a warning, so that 9007199254740993 is ...992; there is no `dtype_backend`.
# What to do: load the table with pyiceberg, and `scan().to_arrow().to_pandas(types_mapper=pandas.ArrowDtype)`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pandas==3.1.1 pyarrow==26.0.1 'pyiceberg[sql-sqlite]==0.12.0'
cat >try.py <<'PY'
import os

import pandas as pd
import pyarrow as pa
from pyiceberg.catalog import load_catalog

properties = {'type': 'sql', 'uri': 'sqlite:///catalog.db', 'warehouse': f'file://{os.getcwd()}'}
catalog = load_catalog('made', **properties)
catalog.create_namespace('a')
rows = pa.table({'n': pa.array([9007199254740993, None], pa.int64())})
table = catalog.create_table('a.t', rows.schema)
table.append(rows)
read = pd.read_iceberg('a.t', catalog_name='made', catalog_properties=properties)
print(read.n.dtype, int(read.n[0]))
try:
    pd.read_iceberg('a.t', catalog_name='made', catalog_properties=properties, dtype_backend='pyarrow')
    print('dtype_backend is known')
except TypeError:
    print('no dtype_backend')
kept = catalog.load_table('a.t').scan().to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
print(kept.n.dtype, kept.n[0])
PY
seen=$(venv/bin/python try.py)
expected='float64 9007199254740992
no dtype_backend
int64[pyarrow] 9007199254740993'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
