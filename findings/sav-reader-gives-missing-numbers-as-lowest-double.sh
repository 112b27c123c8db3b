#!/usr/bin/env bash
# sav-reader 2.0.8 (npm) on a file that pyreadstat 1.3.7 (PyPI) wrote: SPSS's system-missing values.
# Guess: a missing number is null, as pyreadstat gives it.
# Found: it is -1.7976931348623157e+308, the double by which the file says "missing". A mean over it is nonsense, and no field
# tells it from a value. Dates are seconds since 14 October 1582.
# What to do: compare with -Number.MAX_VALUE and take null.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pyreadstat==1.3.7 pandas==3.1.1
cat >make.py <<'PY'
import datetime, pandas, pyreadstat
frame = pandas.DataFrame({'score': [1.5, None], 'day': [datetime.date(2024, 1, 2), datetime.date(2024, 1, 3)]})
pyreadstat.write_sav(frame, 'survey.sav')
print(pandas.isna(pyreadstat.read_sav('survey.sav')[0]['score'][1]))
PY
[ "$(venv/bin/python make.py)" = True ] || { echo 'pyreadstat gives something else for a missing number'; exit 1; }
npm init -y >/dev/null
npm install --silent --no-audit --no-fund sav-reader@2.0.8
cat >try.cjs <<'JS'
const { SavBufferReader } = require('sav-reader')
const { readFileSync } = require('node:fs')
async function main() {
  const reader = new SavBufferReader(readFileSync('survey.sav'))
  await reader.open()
  console.log(JSON.stringify(await reader.readAllRows()))
}
main()
JS
seen=$(node try.cjs)
expected='[{"score":1.5,"day":13923532800},{"score":-1.7976931348623157e+308,"day":13923619200}]'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
