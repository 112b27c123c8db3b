import type { OptionTable } from '../types/option-values.ts'

const CSV = ['csv', 'tsv'] as const
const TEXT = [...CSV, 'html'] as const
const SHEETS = ['xlsx', 'xls', 'xlsb', 'ods'] as const
const TEXT_OR_SHEET = [...CSV, ...SHEETS, 'html'] as const

/** How an uploaded file is read, where it differs from the rules of its format. */
export const READING = {
  nulls: {
    http: 'nulls',
    kind: 'texts',
    formats: TEXT_OR_SHEET,
    about:
      'Text that means a missing value, for example `NA,NULL,-`. In quotes it stays text in columns of text.',
  },
  textNulls: {
    http: 'textNulls',
    kind: 'text',
    values: ['keep'],
    formats: TEXT_OR_SHEET,
    about:
      'With `keep`, the words of `nulls` stay as they are in columns of text, where `NA` may be Namibia.',
  },
  empty: {
    http: 'empty',
    kind: 'text',
    values: ['null', 'text'],
    about:
      'What an empty text (in csv `""`) is in columns that do not hold text: by default a missing value.',
    details: 'With `text`, it is an error in a declared column, and makes any other column text.',
  },
  delimiter: {
    http: 'delimiter',
    kind: 'character',
    formats: CSV,
    pattern: /^[^"\r\n]$/,
    inProse: 'one character, neither a quote nor a line end',
    about: 'The character between fields.',
    details: 'In addresses and commands, `tab` is a tab.',
  },
  quotes: {
    http: 'quotes',
    kind: 'text',
    values: ['"', "'"],
    formats: CSV,
    about: 'The character around fields that hold delimiters or line ends; within them it is doubled.',
  },
  escape: {
    http: 'escape',
    kind: 'text',
    values: ['\\', 'backslash'],
    formats: CSV,
    about: 'With `\\`, quotes within quotes have a backslash before them, as Spark writes them.',
    details:
      'With `backslash`, any character may have one, in quotes or not: `\\t` is a tab, `\\n` a line feed, `\\\\` a backslash, ' +
      'and the field `\\N` is null, as PostgreSQL and MySQL write them.',
  },
  decimal: {
    http: 'decimal',
    kind: 'text',
    values: ['.', ','],
    formats: TEXT,
    about: 'The decimal separator of numbers.',
    details: 'With `,`, `1.5` is not a number.',
  },
  thousands: {
    http: 'thousands',
    kind: 'text',
    values: ['.', ',', ' ', "'"],
    formats: TEXT,
    about: 'The character between the thousands of numbers.',
    details: 'Numbers may lack it: with `.`, both `1.234` and `1234` are read.',
  },
  symbols: {
    http: 'symbols',
    kind: 'texts',
    formats: TEXT,
    about: 'Text before or behind numbers that is left out, for example `€,$,%`.',
    details: 'With `%`, `12.5%` is 12.5; a space stands for all spaces around numbers.',
  },
  booleans: {
    http: 'booleans',
    kind: 'texts',
    formats: TEXT,
    about: 'The two texts for true and false, for example `t,f` or `yes,no`.',
  },
  encoding: {
    http: 'encoding',
    kind: 'text',
    values: [
      ...(['utf-8', 'windows-1252', 'latin1', 'utf-16', 'windows-1250', 'windows-1251'] as const),
      ...(['macintosh', 'shift_jis', 'gb18030', 'big5', 'euc-kr'] as const),
    ],
    formats: TEXT,
    about: 'UTF-8 by default; `latin1` is windows-1252, which is what Windows programs mean by it.',
    details:
      'Excel writes windows-1250 in Central Europe, windows-1251 in Cyrillic, and gb18030 (also called GBK) in China.',
  },
  skip: {
    http: 'skip',
    kind: 'count',
    formats: TEXT_OR_SHEET,
    about: 'The number of lines above the header, such as titles, that are left out.',
  },
  footer: {
    http: 'footer',
    kind: 'count',
    formats: TEXT_OR_SHEET,
    about: 'The number of rows at the end, such as notes or totals, that are left out.',
    details: 'Blank lines do not count.',
  },
  header: {
    http: 'header',
    kind: 'text',
    values: ['present', 'absent'],
    formats: TEXT,
    about: 'Whether the first record names the columns.',
    details:
      "If it does not, the names are those of the dataset's or the request's columns if there are as many of these " +
      'as fields, and otherwise `column1`, `column2` …',
  },
  headerRows: {
    http: 'headerRows',
    kind: 'count',
    formats: TEXT_OR_SHEET,
    pattern: /^[1-9]$/,
    inProse: 'a number from 1 to 9',
    excludes: ['header'],
    about: 'The number of rows that name the columns, such as 2 for years over quarters.',
    details:
      'The names of a column are joined: `2024 Q1`. One in an upper row goes on to the right over columns that have a ' +
      'name below it, as a merged cell does.',
  },
  names: {
    http: 'names',
    kind: 'text',
    values: ['index', 'number'],
    formats: TEXT_OR_SHEET,
    about:
      'With `index`, a first column without a name, which R and pandas write, is called `index`; with `number`, ' +
      'columns without a name are called `column_1`, and those of the same name `a`, `a_2`.',
    details:
      'With `number`, columns at both ends that have neither a name nor a value are left out: a delimiter at the end of ' +
      'each line makes them, and a table that begins in column B of a sheet.',
  },
  dialect: {
    http: 'dialect',
    kind: 'text',
    values: ['auto', 'standard'],
    formats: TEXT_OR_SHEET,
    about: 'With `auto`, the options that are not given are chosen by the beginning of the file.',
    details:
      'The response says which ones, and why. A column stays text unless something in the file shows how it is ' +
      'meant: `01/02/2024` could be in either month. In a workbook, cells have types, so only `skip`, `headerRows`, ' +
      '`names`, `footer` and `nulls` are chosen. ' +
      '`standard` means the rules of the format; it is the default, except in the command and the console.',
  },
  dates: {
    http: 'dates',
    kind: 'text',
    formats: TEXT,
    about:
      'How days are written: `DD.MM.YYYY`, `M/D/YY`, `D MMM YYYY`, `DDMMMYYYY`; a time of day may follow.',
    details:
      '`MMM` is an English name of a month or its beginning. A year of two digits is one from 1970 to 2069. The time of ' +
      'day may end in AM or PM, or in UTC.',
  },
  zone: {
    http: 'zone',
    kind: 'text',
    pattern: /^[\w+ -][\w+/:-]*$/,
    inProse: 'a time zone such as Europe/Berlin, or an offset such as +02:00',
    about: 'The zone of times without an offset, in columns declared as `timestamptz`.',
    details: 'Without it, they are an error; times that the zone skips or repeats always are.',
  },
  nanoseconds: {
    http: 'nanoseconds',
    kind: 'text',
    values: ['truncate'],
    formats: ['parquet', 'arrow', 'avro', 'duckdb'],
    about: 'Cuts times off at the microsecond; without it, finer times are an error.',
  },
  sheet: {
    http: 'sheet',
    kind: 'text',
    formats: SHEETS,
    about: 'The name of the sheet to read; the first one that is not hidden by default.',
  },
  table: {
    http: 'table',
    kind: 'text',
    formats: ['html', 'sqlite', 'duckdb'],
    about: 'The name of the table to read, if the database or the page has several.',
    details: 'Tables of a page are named by their caption, their id or their number.',
  },
  labels: {
    http: 'labels',
    kind: 'flag',
    formats: ['json', 'sav', 'px'],
    about: 'With `true`, values that have labels are read as these; otherwise as their codes.',
    details: 'Of JSON, this is for JSON-stat.',
  },
  entry: {
    http: 'entry',
    kind: 'text',
    formats: ['zip'],
    about:
      'The name of the file in the archive to read, if it holds several tables; `*` reads all, one after the other.',
    details:
      'All other options are for that file, or for each. All, at most 5,000, must have the same columns.',
  },
} as const satisfies OptionTable

/** How a file is read, and how its columns come to those of a dataset. */
export const UPLOADING = {
  ...READING,
  missing: {
    http: 'missing',
    kind: 'text',
    values: ['null'],
    about: 'Columns of the dataset that an upload lacks become null in its rows.',
    details: 'Without it, such an upload is an error, and an upsert leaves these columns as they are.',
  },
  columns: {
    http: 'columns',
    kind: 'text',
    values: ['replace', 'add'],
    about:
      "With `replace`, a replacement brings its own columns; with `add`, an append or upsert adds those that the dataset doesn't have.",
    details: 'Added columns are null in the rows that were there before.',
  },
  fileColumn: {
    http: 'fileColumn',
    kind: 'text',
    pattern: /^[\s\S]/,
    inProse: 'the name of a column',
    about: 'A column of text that the file does not have, and that gets the name of the file in each row.',
    details: 'Files of an archive have the names that they have in it.',
  },
  fileName: {
    http: 'fileName',
    kind: 'text',
    about: 'The name of the file for `fileColumn`; by default the one that a form or an archive gives.',
  },
} as const satisfies OptionTable
