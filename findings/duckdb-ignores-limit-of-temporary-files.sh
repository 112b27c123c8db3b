#!/usr/bin/env bash
# DuckDB 1.5.5 and 2.0.0 (PyPI), opened with `max_temp_directory_size` in its configuration, sorts what does not fit in
# its memory.
# Guess: the query fails when the temporary files reach that size, as it does after SET max_temp_directory_size.
# Found: current_setting gives the size, and the files grow to many times of it.
# What to do: SET GLOBAL max_temp_directory_size after opening.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
cat >try.py <<'PY'
import duckdb
limit = '8MiB'
for how in ('config', 'SET'):
    config = {'temp_directory': f'temp-{how}', 'threads': 1, 'memory_limit': '64MiB'}
    if how == 'config':
        config['max_temp_directory_size'] = limit
    connection = duckdb.connect(config=config)
    if how == 'SET':
        connection.execute(f"SET GLOBAL max_temp_directory_size = '{limit}'")
    try:
        connection.execute("""SELECT s FROM (SELECT md5(i::VARCHAR) AS s FROM range(6000000) t(i) ORDER BY s)
            LIMIT 1 OFFSET 5999999""").fetchall()
        found = 'sorted'
    except duckdb.OutOfMemoryException:
        found = 'fails'
    print(duckdb.__version__, how, connection.execute("SELECT current_setting('max_temp_directory_size')").fetchone()[0], found)
PY
seen=''
for version in 1.5.5 2.0.0; do
  venv/bin/pip install -q duckdb==$version
  seen+="$(venv/bin/python try.py)"$'\n'
done
expected='1.5.5 config 8.0 MiB sorted
1.5.5 SET 8.0 MiB fails
2.0.0 config 8.0 MiB sorted
2.0.0 SET 8.0 MiB fails
'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
