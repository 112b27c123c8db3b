#!/usr/bin/env bash
# hyparquet 1.33.0 (npm) on Parquet files of pyarrow 26.0.1 (PyPI): decimal128(38, 10).
# Guess: a string or a pair of bigint and scale, as 64-bit integers are bigints; or an error.
# Found: a number, so that of 36 digits about 16 are left, without a word.
# What to do: cast to text before the file is written.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pyarrow==26.0.1
cat >make.py <<'PY'
from decimal import Decimal
import pyarrow, pyarrow.parquet
values = pyarrow.array([Decimal('12345678901234567890123456.7890123456')], pyarrow.decimal128(38, 10))
pyarrow.parquet.write_table(pyarrow.table({'amount': values}), 'amount.parquet')
PY
venv/bin/python make.py
npm init -y >/dev/null
npm install --silent --no-audit --no-fund hyparquet@1.33.0
cat >try.mjs <<'JS'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
const [{ amount }] = await parquetReadObjects({ file: await asyncBufferFromFile('amount.parquet') })
console.log(typeof amount, amount)
JS
seen=$(node try.mjs)
expected='number 1.2345678901234568e+25'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
