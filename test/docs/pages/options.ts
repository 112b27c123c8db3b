import { UPLOAD_FORMATS } from '../../../engine/ingest/upload-format.ts'
import {
  ADDING,
  CHANGE,
  type OptionTable,
  QUERY,
  READING,
  UPLOADING,
  VERSION,
  WRITING,
} from '../../../engine/options.ts'
import { COMMIT } from '../../../server/transfers/stretches.ts'

/** The page on all options of queries, exports and uploads, made from their table. */
export function optionsPage(): string {
  return [
    '# Options',
    'In HTTP the options are query parameters. The command has those of queries and exports without the dollar sign (`--filter`), those of uploads as they are (`--delimiter`). An option that is unknown, or does not belong to the format, is rejected. What is no option of rows or files, such as `$format`, `$count`, `$explain` and `dryRun`, is in [HTTP](http.md).',
    '## Queries',
    table(QUERY),
    '## Versions',
    table(VERSION),
    '## Exports',
    table(WRITING),
    '## Uploads',
    formats(),
    table({ ...READING, ...UPLOADING }),
    '## Appends',
    table({ ...ADDING, ...COMMIT }),
    '## Changes',
    table(CHANGE),
    '',
  ].join('\n\n')
}

function formats(): string {
  const rows = Object.entries(UPLOAD_FORMATS).map(([name, { endings, types }]) => {
    return `| ${name} | ${endings.map((ending) => code(`.${ending}`)).join(', ')} | ${types.map(code).join(', ')} |`
  })
  return ['| format | names of files | media type |', '|---|---|---|', ...rows].join('\n')
}

function table(options: OptionTable): string {
  const rows = Object.values(options).map(
    ({ http, values, inProse: inWords, formats, excludes, about, example }) => {
      const takes = values?.map(code).join(', ') ?? inWords ?? ''
      const withOthers = excludes?.map((name) => code(options[name]?.http ?? name)).join(', ')
      const cells = [
        code(http),
        about + (example === undefined ? '' : ` Example: ${code(String(example))}`),
        takes,
        formats?.join(', ') ?? '',
        withOthers ?? '',
      ]
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
    },
  )
  return ['| option | what it does | takes | formats | not with |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}
