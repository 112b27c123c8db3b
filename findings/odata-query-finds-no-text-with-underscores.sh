#!/usr/bin/env bash
# odata-query 0.10.0 (PyPI), which turns $filter into SQL: contains() with the characters that LIKE takes for patterns.
# Guess: they are escaped, with ESCAPE, so that contains(code,'a_b') finds a_b alone.
# Found: they are doubled without ESCAPE. In LIKE, __ is any two characters, so a_b is not found and a-xb is.
# What to do: indexof(code,'a_b') ge 0.
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
database.execute('CREATE TABLE part (code TEXT)')
database.executemany('INSERT INTO part VALUES (?)', [('a_b',), ('a-xb',)])
for text in "contains(code,'a_b')", "indexof(code,'a_b') ge 0":
    where = AstToSqliteSqlVisitor().visit(ODataParser().parse(ODataLexer().tokenize(text)))
    print(where, [code for code, in database.execute(f'SELECT code FROM part WHERE {where}')])
PY
seen=$(venv/bin/python try.py 2>/dev/null)
expected=$'"code" LIKE \'%a__b%\' [\'a-xb\']\nINSTR("code", \'a_b\') - 1 >= 0 [\'a_b\']'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
