#!/usr/bin/env bash
# chdb 4.4.0 (PyPI, ClickHouse 26.9) on a tsv with header in which the second of three numbers is missing.
# Guess: null, as for the same file as csv.
# Found: 0, without a warning. Null is `\N` in this format.
# What to do: write `\N` for null (in Parquetry `$null=\N`), or csv.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q chdb==4.4.0
printf 'n\tvalue\n1\t5\n2\t\n3\t7\n' >empty.tsv
printf 'n\tvalue\n1\t5\n2\t\\N\n3\t7\n' >marked.tsv
printf 'n,value\n1,5\n2,\n3,7\n' >empty.csv
cat >try.py <<'PY'
import chdb

for name, format in [('empty.tsv', 'TSVWithNames'), ('marked.tsv', 'TSVWithNames'), ('empty.csv', 'CSVWithNames')]:
    print(name, *str(chdb.query(f"SELECT value FROM file('{name}', '{format}') ORDER BY n")).split())
PY
seen=$(venv/bin/python try.py)
expected='empty.tsv 5 0 7
marked.tsv 5 \N 7
empty.csv 5 \N 7'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
