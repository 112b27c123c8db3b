import { LAYOUT_RULES } from '../../../engine/ingest/csv/layout.ts'
import { NULLS_RULE, type Rule, VALUE_RULES } from '../../../engine/ingest/csv/rules.ts'

/** The page on what `dialect=auto` chooses, made from its rules. */
export function autoPage(): string {
  return [
    '# What dialect=auto chooses',
    'With [`dialect=auto`](options.md#uploads), csv and tsv are read with options that the file itself shows. An option is chosen only if every value of a column fits and something shows that no other reading is plausible. Otherwise the column stays text, and its `because` has the value, and in `try` (and `or`) the options that would read it. The response lists what was chosen in `options`, and in `why` the row and the value that show it.',
    'Options that you give are never changed. The rules look at the first 1000 rows. All rows below them are checked: a column stays text, too, if a value does not fit, or needs evidence that its first rows and its new values do not have, such as a first `2.500` below whole numbers. In a column that is declared as one of numbers or dates, such a value is an error that names its row and the options to add. In a workbook, whose cells have types, only `skip`, `headerRows`, `names`, `footer` and `nulls` are chosen: a word for nothing is null in a column whose other cells are not text.',
    '## The table in the file',
    table(LAYOUT_RULES),
    '## The values of a column',
    'Each column is looked at for itself. A file has one decimal separator, one character between thousands and one form of dates: if columns differ, those of the less frequent kind stay text.',
    table([...VALUE_RULES, NULLS_RULE]),
    '',
  ].join('\n\n')
}

function table(rules: readonly Rule[]): string {
  const rows = rules.map(({ option, about }) => `| \`${option}\` | ${about.replaceAll('|', '\\|')} |`)
  return ['| option | is chosen if |', '|---|---|', ...rows].join('\n')
}
