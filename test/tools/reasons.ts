import type { Format } from '../../engine/index.ts'
import type { Task } from './tools.ts'
import { TRIED } from './values.ts'

/** Why values differ, where they do: the first rule that fits. What is left out fits all. */
interface Reason {
  readonly tools?: readonly string[]
  readonly way?: Task['way']
  readonly formats?: readonly Format[]
  readonly types: readonly string[]
  readonly because: string
}

const JSONS: readonly Format[] = ['json', 'ndjson']
const XLSX: readonly Format[] = ['xlsx']

export const REASONS: readonly Reason[] = [
  // Excel's own limits, whoever writes or reads the sheet.
  {
    way: 'upload',
    formats: XLSX,
    types: ['integer, extremes', 'double, extremes', 'decimal, extremes'],
    because:
      'A sheet holds numbers as doubles, and programs write 15 to 17 digits of them. A number that no longer fits its type is refused, with its row. Write such numbers as text.',
  },
  {
    tools: ['pandas', 'openpyxl', 'polars', 'excelize'],
    way: 'upload',
    formats: XLSX,
    types: ['date, extremes', 'timestamp, extremes'],
    because:
      'A sheet has no days before 1900. What the program writes instead is refused, with its row. Write such days as text.',
  },
  {
    formats: XLSX,
    types: ['timestamptz'],
    because:
      'A sheet has no time zones. Our cells are in UTC, and show a Z. Some programs refuse to write moments that have a zone: convert them to UTC and remove it.',
  },
  {
    way: 'download',
    formats: XLSX,
    types: ['time, microseconds', 'timestamp, extremes'],
    because:
      'The program rounds the times of a sheet to milliseconds or seconds. Days before 1900 are text in a sheet.',
  },
  {
    tools: ['polars', 'fastexcel'],
    way: 'download',
    formats: XLSX,
    types: ['time'],
    because: 'A time of day becomes that time on 31 December 1899.',
  },
  {
    tools: ['LibreOffice'],
    types: ['time', 'time, microseconds'],
    because:
      'With English (USA) as its language, LibreOffice shows and saves times as 10:20:30 AM. Upload xlsx, or choose another language.',
  },
  {
    tools: ['LibreOffice'],
    way: 'upload',
    types: ['timestamptz'],
    because: 'LibreOffice saves times without their offset. Upload with zone=UTC.',
  },
  {
    tools: ['LibreOffice'],
    types: ['timestamp, extremes'],
    because: 'The program rounds times to milliseconds.',
  },
  {
    tools: ['LibreOffice'],
    types: ['integer, extremes', 'double, extremes', 'decimal, extremes', 'string'],
    because:
      'LibreOffice guesses the types of a csv: numbers become doubles of 15 digits, and 007 becomes 7. Use xlsx.',
  },
  {
    tools: ['excelize'],
    way: 'download',
    types: ['double, extremes'],
    because: 'The program gives 15 digits of a number, with `RawCellValue` as well.',
  },
  {
    tools: ['excelize'],
    way: 'upload',
    types: ['double, not finite'],
    because:
      'The program writes infinity as the number +Inf, which is none in a sheet, and is refused with its row.',
  },
  {
    tools: ['chdb'],
    formats: ['tsv'],
    types: TRIED.map(({ name }) => name),
    because:
      'In this format, null is `\\N` to the program, and quotes are part of the text. Download with `$null=\\N`, and texts with line ends, tabs or quotes as csv.',
  },
  {
    tools: ['chdb'],
    formats: ['csv'],
    types: ['string'],
    because:
      'The program removes spaces around texts without quotes: `SETTINGS input_format_csv_trim_whitespaces = 0`.',
  },
  {
    tools: ['chdb'],
    types: ['time', 'time, microseconds'],
    because: 'A time of day becomes that time on 1 January 1970.',
  },
  {
    tools: ['chdb'],
    types: ['timestamp', 'timestamp, extremes', 'timestamptz'],
    because:
      'The program takes timestamps without a zone in Parquet for UTC, and drops the zone, UTC, of text.',
  },
  {
    tools: ['chdb'],
    types: ['json'],
    because:
      'Its type JSON holds objects alone. Name the column String; Arrow with `$encoding=plain` has json as text.',
  },
  {
    tools: ['chdb'],
    types: ['binary'],
    because: 'The program has no type for bytes but String, which shows them as they are.',
  },
  {
    tools: ['apache-arrow', 'hyparquet'],
    types: ['time', 'time, microseconds'],
    because: 'The program gives the microseconds since midnight.',
  },
  {
    tools: ['apache-arrow'],
    types: ['decimal', 'decimal, extremes'],
    because: 'The program gives the digits without their point: divide by 10 to the power of `type.scale`.',
  },
  {
    tools: ['apache-arrow'],
    types: ['date', 'date, extremes', 'timestamp', 'timestamp, extremes', 'timestamptz'],
    because: 'The program gives the milliseconds since 1970.',
  },
  {
    tools: ['apache-arrow'],
    types: ['uuid'],
    because: 'The program shows the sixteen bytes. With `$encoding=plain`, uuids are text.',
  },
  {
    tools: ['hyparquet'],
    types: ['timestamp, extremes'],
    because: 'The dates of JavaScript hold milliseconds.',
  },
  {
    tools: ['hyparquet'],
    types: ['binary'],
    because: 'The program reads bytes as UTF-8. Read with `utf8: false`.',
  },
  {
    tools: ['hyparquet'],
    types: ['json'],
    because: 'A JSON string is read as the text in it, as it should be.',
  },
  {
    tools: ['Perspective'],
    formats: JSONS,
    types: ['integer'],
    because:
      'If integers of more than 32 bits come below, the program takes null for 0. Use arrow with `$encoding=plain`.',
  },
  {
    tools: ['Perspective'],
    types: ['integer, extremes', 'decimal, extremes'],
    because: 'The program holds numbers as doubles.',
  },
  {
    tools: ['Perspective'],
    types: ['double, not finite'],
    because: 'The program gives null for what is not finite.',
  },
  {
    tools: ['Perspective'],
    types: ['timestamp, extremes'],
    because: 'The program holds milliseconds.',
  },
  {
    tools: ['Perspective'],
    types: ['time'],
    because: 'The program reads times of csv as the seconds since midnight.',
  },
  {
    tools: ['Perspective'],
    formats: ['csv'],
    types: ['string', 'string, empty and NA', 'time, microseconds', 'uuid', 'binary', 'json'],
    because: 'The program reads empty fields of text as the empty text.',
  },
  {
    tools: ['Perspective'],
    types: ['binary'],
    because: 'The program shows bytes as text, and ends at a zero. In json they are base64.',
  },
  {
    tools: ['Perspective'],
    types: ['json'],
    because:
      'The program makes columns of the fields of objects, and rows of the values of lists. Use arrow with `$encoding=plain`, in which json is text.',
  },
  {
    tools: ['pyspark'],
    way: 'download',
    formats: ['csv', 'tsv'],
    types: ['timestamp', 'timestamp, extremes'],
    because:
      'Where it infers types, the program takes timestamps for those of its session’s zone. Name the type: `schema("n long, value timestamp_ntz")`.',
  },
  {
    tools: ['pyspark'],
    way: 'upload',
    formats: ['csv', 'tsv'],
    types: ['string'],
    because:
      'The program removes spaces around texts, unless `ignoreLeadingWhiteSpace` and `ignoreTrailingWhiteSpace` are `False`.',
  },
  {
    tools: ['pyspark'],
    way: 'upload',
    types: ['timestamp, extremes'],
    because:
      "In text, the program writes milliseconds, unless `timestampNTZFormat` (with zone, `timestampFormat`) has all digits: `yyyy-MM-dd'T'HH:mm:ss.SSSSSS`.",
  },
  {
    tools: ['pyspark'],
    way: 'download',
    types: ['uuid'],
    because:
      'The program rejects files with the type, unless its schema has the column as binary, which gives the sixteen bytes, or leaves it out. With `$encoding=plain`, uuids are text.',
  },
  // Text and JSON have no types of their own.
  {
    tools: [
      'pandas',
      'openpyxl',
      'polars',
      'pyarrow',
      'duckdb',
      'DuckDB 1.5',
      'chdb',
      'hyparquet',
      'pyspark',
      'R',
      'LibreOffice',
    ],
    way: 'download',
    types: ['decimal', 'decimal, extremes'],
    because:
      'The program reads the numbers of this format as doubles, which hold 15 to 17 digits. Name the type when you read the column, if the program lets you, or use parquet.',
  },
  {
    types: ['string, empty and NA'],
    because:
      "In this format the program can't tell an empty text from null; some also read NA as null. Use parquet or arrow if you need the difference.",
  },
  {
    tools: ['pandas', 'R'],
    types: ['double, not finite'],
    because: "The program can't tell NaN from null; in JSON it writes infinity as null, too.",
  },
  {
    tools: ['polars', 'openpyxl'],
    way: 'upload',
    types: ['double, not finite'],
    because: 'Instead of a number that is not finite, the program writes null or a formula that fails.',
  },
  {
    tools: ['duckdb', 'DuckDB 1.5'],
    formats: JSONS,
    types: ['double, not finite'],
    because:
      'JSON has no such numbers. Ours are the texts "INF", "-INF" and "NaN", as in OData; what DuckDB writes is not valid JSON.',
  },
  {
    tools: ['pyarrow'],
    formats: JSONS,
    types: ['double, not finite', 'json'],
    because: 'In JSON, the program allows only one type in a column.',
  },
  {
    tools: ['pyarrow', 'DuckDB 1.5'],
    way: 'download',
    types: ['timestamptz'],
    because: 'The program drops the zone, which is UTC.',
  },
  {
    tools: ['pandas', 'R'],
    types: ['integer, extremes', 'double, extremes', 'decimal, extremes'],
    because:
      'The program reads the numbers of this format as doubles, and writes 10 to 15 digits of them. Use parquet.',
  },
  {
    tools: ['R'],
    way: 'upload',
    types: ['date, extremes', 'timestamp, extremes', 'timestamptz'],
    because:
      'R writes years without leading zeros, and moments without fractions and offsets, unless you format them yourself.',
  },
  {
    tools: ['pandas'],
    way: 'upload',
    formats: JSONS,
    types: ['date', 'date, extremes'],
    because:
      '`to_json` writes dates as moments. Declare the column as timestamp, or convert the dates to text.',
  },
  {
    types: ['binary'],
    way: 'upload',
    because:
      'The program writes bytes in a notation of its own, or not at all. Encode them as base64, or use parquet.',
  },
  {
    tools: ['pandas', 'pyarrow', 'openpyxl'],
    way: 'upload',
    types: ['uuid', 'json'],
    because: 'The program refuses to write this type in this format. Convert the values to text.',
  },
  {
    tools: ['polars'],
    formats: JSONS,
    types: ['json'],
    because: 'The program wants all values of a column to have one structure.',
  },
  {
    tools: ['pandas', 'pyspark'],
    formats: JSONS,
    types: ['json'],
    because: 'A JSON string is read as the text in it, as it should be.',
  },
  {
    tools: ['polars', 'pandas'],
    way: 'download',
    types: ['uuid', 'json'],
    because:
      'The program has no such type and shows its bytes: sixteen for a uuid, UTF-8 for json. In csv they are text.',
  },
]

/** @returns undefined where no rule fits */
export function reasonFor(tool: string, way: Task['way'], format: Format, type: string): string | undefined {
  return REASONS.find(
    (one) =>
      (one.tools?.includes(tool) ?? true) &&
      (one.way ?? way) === way &&
      (one.formats?.includes(format) ?? true) &&
      one.types.includes(type),
  )?.because
}
