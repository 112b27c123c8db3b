import { FORMATS } from '../../engine/index.ts'
import type { Result } from './matrix.ts'
import { reasonFor } from './reasons.ts'
import { TRIED } from './values.ts'

/** What each program calls to read and write, where that is not the plainest call. */
const CALLS: Readonly<Record<string, string>> = {
  pandas:
    '`read_csv`, `read_json`, `read_excel`, `read_parquet` with `dtype_backend="numpy_nullable"` (without it, integers become doubles if there is a null); `pyarrow.ipc.open_stream`, `read_feather`; `to_csv(index=False)`, `to_json(orient="records", date_format="iso", date_unit="us")`, `to_excel`, `to_parquet`, `to_feather`.',
  polars:
    '`read_csv(try_parse_dates=True)`, `read_json`, `read_ndjson`, `read_excel`, `read_parquet`, `read_ipc_stream`, `read_ipc`; `write_csv`, `write_json`, `write_ndjson`, `write_excel`, `write_parquet`, `write_ipc_stream`, `write_ipc`.',
  pyarrow:
    '`csv.read_csv` with `newlines_in_values=True` and `ConvertOptions(null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)`, which tells empty text from null; `json.read_json`, `parquet.read_table`, `ipc.open_stream`, `ipc.open_file` of a `memory_map`; `csv.write_csv`, `parquet.write_table`, `ipc.new_stream`, `ipc.new_file`.',
  duckdb: '`read_csv`, `read_json`, Parquet by name, Arrow through pyarrow; `COPY … TO`.',
  chdb: "`file('…', format)` with the formats CSVWithNames, TSVWithNames, JSONEachRow, Parquet, ArrowStream and Arrow.",
  fastexcel: '`read_excel`, `load_sheet(0)`.',
  pyspark:
    "`read.csv(header=True, inferSchema=True, multiLine=True, escape='\"')`, `read.json` (for json with `multiLine=True`), `read.parquet` with `spark.sql.timeType.enabled`, without which it rejects files with times; `write.csv(header=True, escape='\"')`, `write.json`, `write.parquet`, json as VARIANT.",
  excelize:
    '`GetRows`, and `GetCellValue` with `RawCellValue` for numbers without a format; `SetCellValue`, decimals as text.',
  'DuckDB 1.5': '`read_csv`, `read_json`, Parquet by name, in JavaScript (`@duckdb/node-api`).',
  'apache-arrow': '`tableFromIPC` in JavaScript.',
  hyparquet: '`parquetReadObjects` with `hyparquet-compressors`.',
  Perspective: '`perspective.table` in JavaScript (`@perspective-dev/client`); Arrow with `$encoding=plain`.',
  openpyxl: '`load_workbook` and `Workbook().save`.',
  R: 'base R: `read.csv` and `read.delim` with `na.strings = ""`; `write.csv(row.names = FALSE, na = "")`, `write.table`.',
  LibreOffice: 'our file, opened and saved as csv (with the text that the cells show) or as xlsx.',
  curl: 'our own files, downloaded and uploaded again.',
}

export const INTRODUCTION = `# How other programs read and write our formats

This page is written by \`npm run test:tools -- --write\`: it runs the programs that are installed, lets them read our downloads, and uploads files that they have written. \`npm run test:tools\` fails if the page is no longer true. Every column that is tried holds ordinary values and a null. Extreme values, and texts that may be taken for null, are in columns of their own.

The first sign in a cell is for the download, the second for the upload:

| | |
|---|---|
| \`=\` | the values are equal and have the right type |
| \`t\` | download: the values are equal, but they are text or have a similar type. The format or the program has no such type, or reads it only when told to |
| \`d\` | upload: the values are equal if the type of the column is declared (\`columns\` of the dataset). Otherwise another type is inferred |
| a number | the values are not equal; the reason is below the table |
| – | the program can't read or write the format |

Other programs, each tried in the version given, and what to write so that no value changes:

| program | what it does | what to write |
|---|---|---|
| agate 1.14.2, so csvkit 2.2.0 | reads \`1,5\` as 15, and \`mon\`, \`May\` and \`1/2\` as dates of the years 1 and 2001 | download with a decimal point; \`--no-inference\`, or \`column_types\` |
| ClickHouse 26.9 | takes only objects for its type JSON, and not \`[1]\` or \`5\` | download Arrow with \`$encoding=plain\`, in which json is text, and name the column String |
| ClickHouse 26.9 | in tsv, reads an empty field of a column of numbers as 0 | \`$null=\\N\`, or csv |
| csv-parse 7.0.3 | with \`cast: true\`, reads \`0x1F\` as 0 | a function for \`cast\`, or ndjson |
| DataFusion 55.0.0 (PyPI) | its store \`Http\` takes addresses of https alone, and reports a builder error | the server’s address behind TLS |
| DuckDB 1.5.5 and 2.0.0 | reads lists of objects of one field, in the forms of older Parquet writers, as lists of values; casts nanoseconds before 1970 to the later microsecond; does not read BYTE_STREAM_SPLIT of bytes (UUID, FLOAT16), 1.5.5 not of integers either | write such files anew with pyarrow before you use them there, without that encoding; Parquetry refuses these, and cuts nanoseconds |
| excelize 2.11.1 | \`GetCellValue\` gives 15 digits of a number, with \`RawCellValue\` as well; \`SetCellFormula\` stores no value, so that Parquetry rejects the cell | download csv; before an upload, open and save workbooks with formulas in a spreadsheet program |
| hyparquet 1.33.0 | reads binary columns as UTF-8 text, and decimals as doubles | \`utf8: false\`; download decimals as json with \`$decimals=text\` |
| odata-query 0.10.0 (PyPI) | leaves out the parentheses of \`(a add 1) mul 2\`; doubles the \`_\` in \`contains(a,'x_y')\`, so that nothing is found | compute such terms beforehand; \`indexof(a,'x_y') ge 0\` |
| openapi-python-client 0.29.1 | leaves out bodies of media types that it does not know, with warnings; if text may stand in place of JSON, it would write code that fails | \`--config\` with the \`content_type_overrides\` of [this file](https://github.com/parquetry/parquetry/blob/main/examples/openapi-python-client.yml), which leaves two warnings: send SQL and queries as JSON |
| openpyxl 3.1.5, XlsxWriter 3.3.1 | write days before 1900 as numbers that are a day apart | write such days as text |
| orval 8.38.0 | writes code that does not compile for bodies that may be JSON or a file | the \`override\` of [this file](https://github.com/parquetry/parquetry/blob/main/examples/orval.config.js), by which uploads take files; \`Content-Type\` in \`headers\` |
| pandas 3.1.1 | \`read_iceberg\` makes doubles of integers where one is null, so that digits beyond 2^53 are lost | \`table.scan().to_arrow().to_pandas(types_mapper=pd.ArrowDtype)\` of pyiceberg, or polars' \`scan_iceberg\` |
| papaparse 5.7.1 | with \`skipEmptyLines\`, skips rows whose only field is \`""\`, as a single column has null; without, gives one more for the last line end | leave it out, and drop the last row |
| Perspective 5.5.1 | takes no extension types (uuid, json) and no times in Arrow; in json, takes null for 0 above integers of more than 32 bits, and makes a row of each value of a list | Arrow with \`$encoding=plain\`, in which uuid, json and times are text |
| polars 2.1.0 | \`read_excel\` leaves out rows in which all is null | \`drop_empty_rows=False\` |
| pyreadstat 1.3.7 (PyPI) | reads 25:00:00, which SPSS calls elapsed time, as the time of day 01:00:00 | upload the SPSS file itself; \`disable_datetime_conversion=True\` |
| R 4.2.2 | \`read.csv\` skips rows whose only field is \`""\` | \`blank.lines.skip = FALSE\` |
| ROAPI 0.12.7 | ignores misspelt query parameters; gives JSON for \`Accept: text/csv\`; does not start if a column of dates has a day that does not exist | \`Accept: application/csv\`; declare the column as Utf8 |
| sav-reader 2.0.8 | gives missing numbers of an SPSS file as -1.7976931348623157e+308 | upload the file itself, or null in place of \`-Number.MAX_VALUE\` |
| sqlite-utils 4.2.1 | \`insert --csv\` stores \`007\` as 7 | \`--no-detect-types\` |
| xlsx2csv 0.8.6 | writes the hour 15 as 03 where a format has a single \`h\`, as openpyxl’s has; leaves out the seconds of times; writes numbers as they are shown, and 0.0000001 as 0 | download csv; read workbooks with openpyxl or pandas |
`

/** A program's part of the page. @throws Error where a difference has no reason in \`reasons.ts\` */
export function sectionOf(tool: string, version: string, results: readonly Result[]): string {
  const reasons: string[] = []
  const unexplained: string[] = []
  const mark = ({ way, format, type, found }: Result): string => {
    if (found === undefined || typeof found === 'string') return found ?? '–'
    const because = reasonFor(tool, way, format, type)
    if (because === undefined) unexplained.push(`${tool}, ${way}, ${format}, ${type}: ${found.problem}`)
    const number = reasons.indexOf(because ?? '') + 1 || reasons.push(because ?? '')
    return String(number)
  }
  const formats = FORMATS.filter((format) => results.some((one) => one.format === format && one.found))
  const rows = TRIED.map(({ name }) => {
    const cells = formats.map((format) => {
      const [download, upload] = (['download', 'upload'] as const).map((way) =>
        mark(results.find((one) => one.way === way && one.format === format && one.type === name)!),
      )
      return `${download} ${upload}`
    })
    return `| ${[name, ...cells].join(' | ')} |`
  })
  if (unexplained.length > 0) throw new Error(`Differences without a reason:\n${unexplained.join('\n')}`)
  return [
    `## ${tool}\n`,
    `Version ${version}: ${CALLS[tool]}\n`,
    `| download, upload | ${formats.join(' | ')} |`,
    `|---${'|---'.repeat(formats.length)}|`,
    ...rows,
    ...(reasons.length > 0 ? ['', ...reasons.map((because, index) => `${index + 1}. ${because}`)] : []),
    '',
  ].join('\n')
}

/** The parts of a page, by program. */
export function sectionsIn(page: string): Map<string, string> {
  const parts = page.split(/^(?=## )/m).slice(1)
  return new Map(parts.map((part) => [/^## (.+)$/m.exec(part)![1]!, `${part.trimEnd()}\n`]))
}

/**
 * Whether a program does what the page says. Another version than the page's may do otherwise, which is no fault of ours.
 */
export function compare(
  section: string,
  onPage: string | undefined,
): 'same' | 'different' | 'another version' {
  if (section === onPage) return 'same'
  const [version, other] = [section, onPage].map((text) => /^Version [^:]*/m.exec(text ?? '')?.[0])
  if (version === other) return 'different'
  return section.replace(version!, '') === onPage?.replace(other!, '') ? 'same' : 'another version'
}
