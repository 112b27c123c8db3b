#!/usr/bin/env bash
# calamine (PyPI's python-calamine 0.9.1, for pandas' engine="calamine") and pyxlsb 1.0.10 on an xlsb of SheetJS 0.20.3.
# Guess: all cells. Those next to another may have records without a column (BrtShortRk and others: [MS-XLSB], 2.5.10).
# Found: of each run of cells, only the first is read; the others are missing without an error. LibreOffice reads all.
# What to do: read such files with LibreOffice or SheetJS, or write xlsx.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @e965/xlsx@0.20.3
cat >make.cjs <<'JS'
const { readFile, utils, writeFile } = require('@e965/xlsx')
const book = utils.book_new()
utils.book_append_sheet(book, utils.aoa_to_sheet([['a', 'b', 'c'], [1, 2.5, 3], [4, , 6]]), 's')
writeFile(book, 'values.xlsb', { bookSST: true })
console.log(JSON.stringify(utils.sheet_to_json(readFile('values.xlsb').Sheets.s, { header: 1 })))
JS
[ "$(node make.cjs)" = '[["a","b","c"],[1,2.5,3],[4,null,6]]' ] || { echo 'SheetJS reads something else'; exit 1; }
python3 -m venv venv
venv/bin/pip install -q python-calamine==0.9.1 pyxlsb==1.0.10
cat >try.py <<'PY'
from pyxlsb import open_workbook
from python_calamine import CalamineWorkbook

print(CalamineWorkbook.from_path('values.xlsb').get_sheet_by_index(0).to_python())
with open_workbook('values.xlsb') as book, book.get_sheet(1) as sheet:
    print([[cell.v for cell in row] for row in sheet.rows()])
PY
seen=$(venv/bin/python try.py)
expected="[['a', '', ''], [1, '', ''], [4, '', 6]]
[['a', None, None], [1.0, None, None], [4.0, None, 6.0]]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
