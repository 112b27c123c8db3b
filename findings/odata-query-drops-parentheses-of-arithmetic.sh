#!/usr/bin/env bash
# odata-query 0.10.0 (PyPI), which turns $filter into SQL: parentheses around an operand of arithmetic.
# Guess: (price add 1) mul 2 becomes ("price" + 1) * 2, as `and` within `or` does get its parentheses.
# Found: "price" + 1 * 2, so that other rows pass; the same with sub within sub.
# What to do: compute such terms in a column, or filter without it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q odata-query==0.10.0
cat >try.py <<'PY'
import sqlite3
from odata_query.grammar import ODataLexer, ODataParser
from odata_query.sql import AstToSqliteSqlVisitor
database = sqlite3.connect(':memory:')
database.execute('CREATE TABLE sale (price INTEGER)')
database.execute('INSERT INTO sale VALUES (7)')
for text in '(price add 1) mul 2 eq 16', '10 sub (price sub 1) eq 4':
    where = AstToSqliteSqlVisitor().visit(ODataParser().parse(ODataLexer().tokenize(text)))
    print(f'{where}: {database.execute(f"SELECT count(*) FROM sale WHERE {where}").fetchone()[0]} rows')
PY
seen=$(venv/bin/python try.py)
expected='"price" + 1 * 2 = 16: 0 rows
10 - "price" - 1 = 4: 0 rows'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
