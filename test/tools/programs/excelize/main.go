// Reads and writes workbooks with excelize: tasks come as JSON, and a line of JSON goes out for each.
package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"time"

	"github.com/xuri/excelize/v2"
)

type task struct {
	Way, Format, Path string
	Tried             struct {
		Type   string
		Values []*string
	}
}

func main() {
	var tasks []task
	if err := json.NewDecoder(os.Stdin).Decode(&tasks); err != nil {
		panic(err)
	}
	for _, one := range tasks {
		var outcome any = map[string]any{}
		var err error
		switch {
		case one.Format != "xlsx":
			outcome = map[string]any{"none": true}
		case one.Way == "download":
			var cells [][2]any
			cells, err = read(one.Path)
			outcome = map[string]any{"cells": cells}
		default:
			err = write(one)
		}
		if err != nil {
			outcome = map[string]any{"error": err.Error()}
		}
		json.NewEncoder(os.Stdout).Encode(outcome)
	}
}

func read(path string) ([][2]any, error) {
	file, err := excelize.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sheet := file.GetSheetName(0)
	rows, err := file.GetRows(sheet)
	cells := [][2]any{}
	for row := 2; row <= len(rows); row++ {
		name := "B" + strconv.Itoa(row)
		kind, _ := file.GetCellType(sheet, name)
		style, _ := file.GetCellStyle(sheet, name)
		shown, _ := file.GetCellValue(sheet, name)
		raw, _ := file.GetCellValue(sheet, name, excelize.Options{RawCellValue: true})
		switch {
		case shown == "" && kind == excelize.CellTypeUnset:
			cells = append(cells, [2]any{"null", nil})
		case kind == excelize.CellTypeBool:
			cells = append(cells, [2]any{"bool", shown})
		case style == 0 && (kind == excelize.CellTypeUnset || kind == excelize.CellTypeNumber):
			cells = append(cells, [2]any{"float", raw})
		default:
			cells = append(cells, [2]any{"str", shown})
		}
	}
	return cells, err
}

func write(one task) error {
	file := excelize.NewFile()
	defer file.Close()
	file.SetSheetRow("Sheet1", "A1", &[]any{"n", "value"})
	for at, text := range one.Tried.Values {
		row := strconv.Itoa(at + 2)
		file.SetCellValue("Sheet1", "A"+row, at+1)
		if text == nil {
			continue
		}
		value, err := valueOf(one.Tried.Type, *text)
		if err == nil {
			err = file.SetCellValue("Sheet1", "B"+row, value)
		}
		if err != nil {
			return err
		}
	}
	return file.SaveAs(one.Path)
}

// Go has no decimals and no days: decimals are text, and days are midnights.
func valueOf(kind, text string) (any, error) {
	switch kind {
	case "boolean":
		return text == "true", nil
	case "integer":
		return strconv.ParseInt(text, 10, 64)
	case "double":
		return strconv.ParseFloat(text, 64)
	case "date":
		return time.Parse("2006-01-02", text)
	case "timestamp":
		return time.Parse("2006-01-02T15:04:05.999999", text)
	case "timestamptz":
		return time.Parse(time.RFC3339Nano, text)
	case "time":
		since, err := time.Parse("15:04:05.999999", text)
		return since.Sub(since.Truncate(24 * time.Hour)), err
	case "binary":
		return base64.StdEncoding.DecodeString(text)
	default:
		return text, nil
	}
}
