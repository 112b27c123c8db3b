#!/usr/bin/env bash
# ROAPI 0.12.7 (PyPI), REST queries of a csv file.
# Guess: an unknown query parameter is an error, or at least told; `Accept: text/csv` gives csv.
# Found: `limt=1` is ignored, so all rows come with 200; and `Accept: text/csv`, csv's registered media type, gives JSON
# (`application/csv` gives csv).
set -euo pipefail
work=$(mktemp -d)
cd "$work"
python3 -m venv venv
venv/bin/pip install -q roapi==0.12.7
printf 'id,name\n1,A\n2,B\n' >rows.csv
venv/bin/roapi -a 127.0.0.1:18099 -p 127.0.0.1:18098 -t "rows=$work/rows.csv" >log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 150); do
  curl -fsS http://127.0.0.1:18099/api/schema >/dev/null 2>&1 && break
  sleep 0.2
done
rows=http://127.0.0.1:18099/api/tables/rows
seen="$(curl -sS -m 20 "$rows?limt=1") $(curl -sS -m 20 "$rows?limit=1") $(curl -sS -m 20 -H 'Accept: text/csv' "$rows?limit=1") $(curl -sS -m 20 -H 'Accept: application/csv' "$rows?limit=1" | tr '\n' '|')"
expected='[{"id":1,"name":"A"},{"id":2,"name":"B"}] [{"id":1,"name":"A"}] [{"id":1,"name":"A"}] id,name|1,A|'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
