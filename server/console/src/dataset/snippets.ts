import type { Question } from '../../../client/index.ts'
import { api } from '../api.ts'

export type Language = 'curl' | 'python' | 'r'

export const LANGUAGES: readonly { readonly value: Language; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'r', label: 'R' },
]

/** Code that requests the rows of the view. It doesn't contain the key, but reads it from the environment. */
export function snippet(language: Language, datasetId: number, query: Question): string {
  const url = api().datasets.address(datasetId, 'csv', query).href
  switch (language) {
    case 'curl':
      return `curl --fail --user "$PARQUETRY_KEY:" --output data.csv \\\n  '${url}'`
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
    `    ${JSON.stringify(url)},`,
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
    `answer <- request(${JSON.stringify(url)}) |>`,
    '  req_auth_basic(Sys.getenv("PARQUETRY_KEY"), "") |>',
    '  req_perform()',
    'table <- read.csv(text = resp_body_string(answer))',
  ].join('\n')
}
