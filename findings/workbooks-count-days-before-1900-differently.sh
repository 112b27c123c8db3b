#!/usr/bin/env bash
# openpyxl 3.1.5 and XlsxWriter 3.3.1 (PyPI) write 1 June 1899 and 1 March 1900 into a workbook.
# Guess: the same numbers, or an error, because Excel has no days before 1900-01-01.
# Found: 1 June 1899 is -212 by openpyxl and -213 by XlsxWriter (so by polars, and by pandas if it is installed), both with
# the format of a date: a reader of the file can't know which day is meant. From March 1900 on they agree.
# What to do: write days before 1900 as text.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q openpyxl==3.1.5 XlsxWriter==3.3.1
cat >try.py <<'PY'
import datetime, re, zipfile
import openpyxl, xlsxwriter
days = [datetime.date(1899, 6, 1), datetime.date(1900, 3, 1)]
book = openpyxl.Workbook()
for day in days:
    book.active.append([day])
book.save('openpyxl.xlsx')
with xlsxwriter.Workbook('XlsxWriter.xlsx') as made:
    sheet, style = made.add_worksheet(), made.add_format({'num_format': 'yyyy-mm-dd'})
    for row, day in enumerate(days):
        sheet.write_datetime(row, 0, day, style)
for name in ('openpyxl', 'XlsxWriter'):
    xml = zipfile.ZipFile(f'{name}.xlsx').read('xl/worksheets/sheet1.xml').decode()
    print(name, *re.findall('<v>(.*?)</v>', xml))
PY
seen=$(venv/bin/python try.py)
expected="openpyxl -212 61
XlsxWriter -213 61"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
