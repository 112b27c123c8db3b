import { expect, test } from 'vitest'
import { differential } from './differential.ts'
import { questions } from './questions.ts'

/** How many questions; `npm run test:differential` sets more, and another seed with them. */
const QUESTIONS = Number(process.env['PARQUETRY_TEST_QUESTIONS'] ?? 250)

test(`${QUESTIONS} random questions have the answers of a model without SQL and statistics`, {
  timeout: 120_000 + QUESTIONS * 60,
}, async () => {
  const tally = await differential(questions(), QUESTIONS)
  // A generator that drifted to questions that are refused would show nothing.
  expect(tally.compared).toBeGreaterThan(tally.asked * 0.8)
})
