#!/usr/bin/env bash
# agate 1.14.2 (PyPI), the reader below csvkit: `Table.from_csv` with the types that it infers.
# Guess: mon, tue, wed and names of months are text, and 1/2 is text or a number.
# Found: all of them are dates. Weekdays and months are days of the year 1, fractions are months of 2001 onwards.
# What to do: name the type (`column_types`), or `csvkit`'s `--no-inference`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q agate==1.14.2
cat >try.py <<'PY'
import io, warnings
warnings.simplefilter('ignore')
import agate
table = agate.Table.from_csv(io.StringIO('day,name,share\nmon,May,1/2\ntue,June,3/4\n'))
for name in table.column_names:
    print(name, type(table.columns[name].data_type).__name__, *table.columns[name].values())
PY
seen=$(venv/bin/python try.py)
expected='day Date 0001-01-08 0001-01-02
name Date 0001-05-01 0001-06-01
share Date 2001-01-02 2001-03-04'
echo "$seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
