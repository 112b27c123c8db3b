#!/usr/bin/env bash
# sqlite-utils 4.2.1 (PyPI), `insert --csv`, which since version 4 detects types unless told otherwise.
# Guess: 007 is text, because as a number it would lose its zeros.
# Found: it is 7. And 1_000 makes a column INTEGER, because Python's int() takes underscores, but is stored as text there.
# What to do: `--no-detect-types`, or `--type zip text`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q sqlite-utils==4.2.1
printf 'zip,code\n007,1_000\n008,2_000\n' >places.csv
venv/bin/sqlite-utils insert places.db places places.csv --csv >/dev/null
seen=$(venv/bin/sqlite-utils query places.db 'select zip, typeof(zip) t, code, typeof(code) c from places limit 1' --csv --no-headers)
declared=$(venv/bin/sqlite-utils schema places.db | tr -d '\n ')
expected='7,integer,1_000,text'
echo "$seen, declared: $declared"
[ "$(echo "$seen" | tr -d '\r')" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
[ "$declared" = 'CREATETABLE"places"("zip"INTEGER,"code"INTEGER);' ] || { echo 'the schema has changed'; exit 1; }
