#!/usr/bin/env bash
# agate 1.14.2 (PyPI), the reader below csvkit: `Table.from_csv` with the types that it infers.
# Guess: "1,5" is text unless a locale is given, because a comma between thousands has three digits after it.
# Found: it is 15. Every comma is taken for one between thousands, wherever it is.
# What to do: `agate.Number(locale='de_DE.UTF-8')` for the columns that need it, or text.
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
table = agate.Table.from_csv(io.StringIO('amount\n"1,5"\n"12,25"\n'))
print(type(table.columns['amount'].data_type).__name__, *table.columns['amount'].values())
PY
seen=$(venv/bin/python try.py)
expected='Number 15 1225'
echo "$seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
