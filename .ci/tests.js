// Says of vitest's results (its json reporter) how many tests passed and which failed; with --left-out, which were skipped.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const leftOut = process.argv[2] === '--left-out'
for (const file of process.argv.slice(leftOut ? 3 : 2)) {
  const { testResults, numPassedTests, numTotalTests } = JSON.parse(readFileSync(file, 'utf8'))
  if (!leftOut)
    console.log(`  ${numPassedTests} of ${numTotalTests} tests passed in ${testResults.length} files`)
  for (const { name, assertionResults } of testResults) {
    for (const { status, fullName } of assertionResults) {
      const wanted = leftOut
        ? status === 'pending' || status === 'skipped' || status === 'todo'
        : status === 'failed'
      if (wanted) console.log(`  ${leftOut ? '' : 'FAILED '}${relative('.', name)}: ${fullName}`)
    }
  }
}
