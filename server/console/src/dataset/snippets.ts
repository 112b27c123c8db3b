import { dataPath, type Format, type RowQuery } from '../api/rows.ts'

export type Language = 'curl' | 'python' | 'r'

export const LANGUAGES: readonly { readonly value: Language; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'r', label: 'R' },
]

/** The request that this view stands for, ready to paste. The key stays out: it is read from the environment. */
export function snippet(
  language: Language,
  origin: string,
  datasetId: number,
  query: RowQuery,
  format: Format,
): string {
  const url = origin + dataPath(datasetId, query, format)
  switch (language) {
    case 'curl':
      return `curl --fail --user "$PARQUETRY_KEY:" --output data.${format} \\\n  '${url.replaceAll("'", '%27')}'`
    case 'python':
      return python(url)
    case 'r':
      return r(url)
    default:
      return language satisfies never
  }
}

function python(url: string): string {
  return [
    'import io, os',
    'import pandas as pd',
    'import requests',
    '',
    'answer = requests.get(',
    `    ${JSON.stringify(csvOf(url))},`,
    '    auth=(os.environ["PARQUETRY_KEY"], ""),',
    ')',
    'answer.raise_for_status()',
    'table = pd.read_csv(io.BytesIO(answer.content))',
  ].join('\n')
}

function r(url: string): string {
  return [
    'library(httr2)',
    '',
    `answer <- request(${JSON.stringify(csvOf(url))}) |>`,
    '  req_auth_basic(Sys.getenv("PARQUETRY_KEY"), "") |>',
    '  req_perform()',
    'table <- read.csv(text = resp_body_string(answer))',
  ].join('\n')
}

/** The same request as csv, which both languages read without another package. */
function csvOf(url: string): string {
  return url.replace(/\$format=\w+&?/, '').replace(/\?$/, '')
}
