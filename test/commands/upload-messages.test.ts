import { expect, test } from 'vitest'
import { withFlags } from '../../server/commands/import.ts'

test.each([
  ['Is delimiter=tab meant?', 'Is --delimiter tab meant?'],
  ['but decimal=, says so; add thousands=. as well.', 'but --decimal , says so; add --thousands . as well.'],
  ['finds rows: on=date,series.', 'finds rows: --on date,series.'],
  ['With mode=upsert, it goes.', 'With --upsert, it goes.'],
  ['and sheet= does not say', 'and --sheet does not say'],
  [
    'dialect=auto would read the file, with delimiter=%3B&thousands=+.',
    "--dialect auto would read the file, with --delimiter ';' --thousands ' '.",
  ],
  ['"delimiter=; \\" decimal=," is not a date.', '"delimiter=; \\" decimal=," is not a date.'],
])('a message about an upload names options as the command has them: %s', (message, told) => {
  expect(withFlags(message)).toBe(told)
})
