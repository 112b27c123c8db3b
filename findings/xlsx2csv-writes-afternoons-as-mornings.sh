#!/usr/bin/env bash
# xlsx2csv 0.8.6 on a workbook that openpyxl 3.1.5 writes with its own formats for dates and durations.
# Guess: a moment at 15:04 is written as 15:04, a duration of 30 hours as 30 hours, and 0.0000001 as a number near it,
# because the workbook holds them so, and a csv is for programs.
# Found: openpyxl's format of moments has one h (`yyyy-mm-dd h:mm:ss`), which xlsx2csv takes for the hour of a clock with
# twelve: 15:04:05 becomes 03:04:05, with no AM or PM. 30 hours become 1.25, the seconds of times are dropped, and
# 0.0000001 becomes 0, although its cell has no format. There is no message.
# What to do: read workbooks by their values (openpyxl, pandas, calamine), or give moments a format with hh.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q xlsx2csv==0.8.6 openpyxl==3.1.5
cat >make.py <<'PY'
from datetime import datetime, time, timedelta
from openpyxl import Workbook

book = Workbook()
sheet = book.active
sheet.append(['moment', 'duration', 'time', 'number'])
sheet.append([datetime(2026, 1, 2, 15, 4, 5), timedelta(hours=30), time(15, 4, 5), 0.0000001])
book.save('values.xlsx')
print([cell.number_format for cell in sheet[2]])
PY
echo "formats: $(venv/bin/python make.py)"
seen=$(venv/bin/xlsx2csv values.xlsx | tail -n +2 | tr -d '\r')
expected='2026-01-02 03:04:05,1.25,15:04,0'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
