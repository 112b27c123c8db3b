import { readFileSync } from 'node:fs'

/** A row of the table "Which tests belong to which folder": folders or files of sources, and what to run. */
const ROW = /^\| (.*`[\w/.-]+`.*) \| (.*`test\/.*) \|$/gm
const CODE = /`([^`]+)`/g

/** The folders of tests that belong to a file or folder, by the table in CONTRIBUTING.md. */
export function testsOf(path: string): readonly string[] {
  const guide = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8')
  for (const [, sources, tests] of guide.matchAll(ROW)) {
    const belongs = spans(sources!).some((source) => `${path}/`.startsWith(source))
    if (belongs) return spans(tests!).flatMap((names) => names.split(' '))
  }
  return []
}

function spans(text: string): string[] {
  return [...text.matchAll(CODE)].map(([, code]) => code!)
}
