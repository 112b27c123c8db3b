#!/usr/bin/env bash
# pyreadstat 1.3.7 (PyPI) on a file with SPSS's format TIME, whose numbers are seconds and may be more than a day: 25:00:00.
# Guess: 90,000 seconds are 25 hours, as SPSS and PSPP show them (TIME is "elapsed time" there), or at least an error.
# Found: they are read as the time of day 01:00:00. Sums and means of hours worked are wrong, and no field tells it.
# What to do: read with disable_datetime_conversion=True, and divide the seconds yourself.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q pyreadstat==1.3.7 pandas==3.1.1
cat >try.py <<'PY'
import pandas, pyreadstat
pyreadstat.write_sav(pandas.DataFrame({'worked': [3600.0, 90000.0]}), 'hours.sav', variable_format={'worked': 'TIME8'})
read = lambda **options: pyreadstat.read_sav('hours.sav', **options)[0]['worked'].tolist()
print([str(one) for one in read()], read(disable_datetime_conversion=True))
PY
seen=$(venv/bin/python try.py)
expected="['01:00:00', '01:00:00'] [3600.0, 90000.0]"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
