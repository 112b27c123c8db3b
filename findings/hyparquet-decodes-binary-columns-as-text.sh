#!/usr/bin/env bash
# hyparquet 1.33.0 (npm) on a Parquet file that DuckDB 1.5.5 (PyPI) wrote: a BLOB column, a byte array without a logical type.
# Guess: a Uint8Array, as for fixed-length byte arrays.
# Found: a string, decoded as UTF-8, so that bytes which are no UTF-8 become U+FFFD and are lost.
# What to do: pass `utf8: false`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q duckdb==1.5.5
venv/bin/python -c "import duckdb; duckdb.sql(\"copy (select from_base64('/wA=') b) to 'blob.parquet'\")"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund hyparquet@1.33.0
cat >try.mjs <<'JS'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
const file = await asyncBufferFromFile('blob.parquet')
const [{ b }] = await parquetReadObjects({ file })
const [{ b: bytes }] = await parquetReadObjects({ file, utf8: false })
console.log(typeof b, [...b].map((one) => one.codePointAt(0).toString(16)).join(' '), bytes.constructor.name, [...bytes].join(' '))
JS
seen=$(node try.mjs)
expected='string fffd 0 Uint8Array 255 0'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
