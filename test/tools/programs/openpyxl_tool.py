import openpyxl
from common import serve


def read(path):
    return [row[1] for row in openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True)]


def write(path, numbers, values, kind):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["n", "value"])
    for row in zip(numbers, values):
        sheet.append(row)
    book.save(path)


serve({"xlsx": read}, {"xlsx": write})
