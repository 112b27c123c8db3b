#!/usr/bin/env bash
# excelize 2.11.1 (Go), which needs Go and its module proxy, on numbers that it has written itself.
# Guess: GetCellValue with RawCellValue gives what is in the file, so that the same double comes back.
# Found: 15 digits, so that 1/3 and 0.1 + 0.2 become other doubles.
# What to do: csv or Parquet for doubles of more digits, or text in cells.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"strconv"

	"github.com/xuri/excelize/v2"
)

func main() {
	file := excelize.NewFile()
	for at, number := range []float64{1. / 3, 0.30000000000000004} {
		cell := fmt.Sprintf("A%d", at+1)
		file.SetCellValue("Sheet1", cell, number)
		raw, _ := file.GetCellValue("Sheet1", cell, excelize.Options{RawCellValue: true})
		back, _ := strconv.ParseFloat(raw, 64)
		fmt.Println(raw, back == number)
	}
}
GO
go mod init finding 2>/dev/null
go get github.com/xuri/excelize/v2@v2.11.1 2>/dev/null
seen=$(go run .)
expected='0.333333333333333 false
0.300000000000000 false'
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
