#!/usr/bin/env bash
# SheetJS 0.20.3 (npm's @e965/xlsx) on an OpenDocument spreadsheet whose cells have values, but no text to show.
# Guess: a cell with `office:value="0.1"` is 0.1; the text beside it is only how it is shown, and may be missing (ODF 1.3,
# part 3, 19.389: the value is that of the attribute).
# Found: the cell is dropped, and the sheet reads as if it were empty there. pandas with odfpy reads 0.1.
# What to do: write the text, too, as spreadsheet programs do; for ods from other programs read `office:value` yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q odfpy==1.4.1 pandas==3.1.1
cat >make.py <<'PY'
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
import pandas

document = OpenDocumentSpreadsheet()
table = Table(name='s')
document.spreadsheet.addElement(table)
for cells in [[('string', 'n'), ('string', 'm')], [('float', 0.1, 'shown'), ('float', 0.2)]]:
    row = TableRow()
    table.addElement(row)
    for kind, value, *text in cells:
        cell = TableCell(valuetype=kind) if kind == 'string' else TableCell(valuetype=kind, value=value)
        if kind == 'string' or text:
            cell.addElement(P(text=str(value)))
        row.addElement(cell)
document.save('values.ods')
print(pandas.read_excel('values.ods', engine='odf').values.tolist())
PY
[ "$(venv/bin/python make.py)" = '[[0.1, 0.2]]' ] || { echo 'pandas reads something else'; exit 1; }
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @e965/xlsx@0.20.3
cat >try.cjs <<'JS'
const { readFile, utils } = require('@e965/xlsx')
const book = readFile('values.ods')
console.log(JSON.stringify(utils.sheet_to_json(book.Sheets.s, { header: 1 })))
JS
seen=$(node try.cjs)
expected='[["n","m"],[0.1]]'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
