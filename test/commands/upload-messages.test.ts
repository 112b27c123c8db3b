import { expect, test } from 'vitest'
import { EngineError, hint, httpWords } from '../../engine/errors.ts'
import { inFlags, withFlags } from '../../server/commands/usage.ts'

/** What the command shows of the engine's error, and of the same from a server. */
function shownBy(parts: readonly string[]): string[] {
  const error = new EngineError('invalid_upload', parts.join(''))
  const { message, details } = error.inWords(httpWords)
  return [inFlags(error), withFlags(message, details?.hints)]
}

test.each([
  [['Is ', hint('delimiter=tab'), ' meant?'], 'Is --delimiter tab meant?'],
  [
    ['but ', hint('decimal=,'), ' says so; add ', hint('thousands=.'), ' as well.'],
    'but --decimal , says so; add --thousands . as well.',
  ],
  [['finds rows: ', hint('on=date,series'), '.'], 'finds rows: --on date,series.'],
  [['With ', hint('mode=upsert'), ', it goes.'], 'With --upsert, it goes.'],
  [['Leave ', hint('labels=true'), ' out.'], 'Leave --labels out.'],
  [[hint('$orderby'), ' with ', hint('$decimal=,'), '.'], '--orderby with --decimal ,.'],
  [['and ', hint('sheet='), ' does not say'], 'and --sheet does not say'],
  [
    [hint('dialect=auto'), ' would read the file (', hint('delimiter=%3B&thousands=.'), ').'],
    "--dialect auto would read the file (--delimiter ';' --thousands .).",
  ],
  [
    ['"decimal=," in row 1; ', hint('decimal=.'), ' may read it'],
    '"decimal=," in row 1; --decimal . may read it',
  ],
  [['"delimiter=; \\" decimal=," is not a date.'], '"delimiter=; \\" decimal=," is not a date.'],
])('a message about an upload names options as the command has them: %#', (parts, shown) => {
  expect(shownBy(parts)).toEqual([shown, shown])
})
