#!/usr/bin/env bash
# DuckDB 1.5.5 and 2.0.1 (PyPI): a text with an exponent that is cast to a decimal.
# Guess: 1200e-2 is 12, so it is a DECIMAL(5,2), as 12.00 and 0.12e2 are.
# Found: a conversion error, because the four digits before the exponent are more than three; it is a DECIMAL(6,2). At
# the other end, 0.05e1 is no DECIMAL(38,38), although 0.5 is.
# What to do: cast to a wider decimal first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >expected <<'EXPECTED'
12.00 DECIMAL(5,2) 12
0.12e2 DECIMAL(5,2) 12
1200e-2 DECIMAL(5,2) conversion error
1200e-2 DECIMAL(6,2) 12
0.5 DECIMAL(38,38) 0.5
0.05e1 DECIMAL(38,38) conversion error
EXPECTED
cat >cast.py <<'PYTHON'
import duckdb

connection = duckdb.connect()
for text, type in [
    ("12.00", "DECIMAL(5,2)"),
    ("0.12e2", "DECIMAL(5,2)"),
    ("1200e-2", "DECIMAL(5,2)"),
    ("1200e-2", "DECIMAL(6,2)"),
    ("0.5", "DECIMAL(38,38)"),
    ("0.05e1", "DECIMAL(38,38)"),
]:
    try:
        [(value,)] = connection.execute(f"SELECT CAST('{text}' AS {type})").fetchall()
        print(text, type, value.normalize())
    except duckdb.ConversionException:
        print(text, type, "conversion error")
PYTHON
for version in 1.5.5 2.0.1; do
  python3 -m venv "$version"
  "$version/bin/pip" install --quiet "duckdb==$version"
  "$version/bin/python" cast.py >found
  echo "duckdb $version" && cat found
  diff expected found
done
