#!/usr/bin/env bash
# fastexcel 0.21.0 (PyPI), which polars' read_excel uses, on a column of numbers in which one cell is text.
# Guess: numbers with all their digits, as text where it has to be. (The texts NaN and n/a don't count.)
# Found: nine decimals: 1/3 is 0.333333333, and -1e-18 is -0.
# What to do: name the type, with which the text is null: dtypes={"a": "float"}, schema_overrides={"a": pl.Float64}.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q fastexcel==0.21.0 XlsxWriter==3.3.1 pyarrow==26.0.1
cat >try.py <<'PY'
import fastexcel
import xlsxwriter

with xlsxwriter.Workbook('mixed.xlsx') as book:
    book.add_worksheet().write_column(0, 0, ['a', 1 / 3, -1e-18, 'text'])
file = fastexcel.read_excel('mixed.xlsx')
for options in ({}, {'dtypes': {'a': 'float'}}):
    print(file.load_sheet(0, **options).to_arrow()['a'].to_pylist())
PY
seen=$(venv/bin/python try.py)
expected="['0.333333333', '-0', 'text']
[0.3333333333333333, -1e-18, None]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
