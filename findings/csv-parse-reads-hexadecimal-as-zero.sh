#!/usr/bin/env bash
# csv-parse 7.0.3 (npm), `cast: true`.
# Guess: 0x1F stays text, or becomes 31.
# Found: it becomes the number 0, and so does every other hexadecimal, octal or binary text. The test for a number accepts
# what JavaScript converts, and the value is then taken with parseFloat, which stops at the x.
# What to do: leave `cast` out, or give a function that checks the text first.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund csv-parse@7.0.3
cat >try.cjs <<'JS'
const { parse } = require('csv-parse/sync')
console.log(JSON.stringify(parse('id,register\n1,0x1F\n2,0b101\n3,31\n', { columns: true, cast: true }).map((row) => row.register)))
JS
seen=$(node try.cjs)
expected='[0,0,31]'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
