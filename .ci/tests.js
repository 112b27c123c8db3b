// Says of vitest's results (its json reporter) how many tests passed, and which failed and why; with --left-out, which
// were skipped.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const leftOut = process.argv[2] === '--left-out'
for (const path of process.argv.slice(leftOut ? 3 : 2)) {
  const { testResults, numPassedTests, numTotalTests } = JSON.parse(readFileSync(path, 'utf8'))
  if (leftOut) skipped(testResults)
  else {
    console.log(`  ${numPassedTests} of ${numTotalTests} tests passed in ${testResults.length} files`)
    failed(testResults)
  }
}

function skipped(files) {
  for (const { name, assertionResults } of files) {
    for (const { status, fullName } of assertionResults) {
      if (['pending', 'skipped', 'todo'].includes(status))
        console.log(`  ${relative('.', name)}: ${fullName}`)
    }
  }
}

function failed(files) {
  for (const { name, status, message, assertionResults } of files) {
    const tests = assertionResults.filter((test) => test.status === 'failed')
    for (const { fullName, failureMessages } of tests) {
      console.log(`  FAILED ${relative('.', name)}: ${fullName}\n${beginning(failureMessages.join('\n'))}`)
    }
    if (status === 'failed' && tests.length === 0)
      console.log(`  FAILED ${relative('.', name)}\n${beginning(message)}`)
  }
}

function beginning(message) {
  const lines = stripVTControlCharacters(message).split('\n')
  return lines
    .slice(0, 12)
    .map((line) => `    ${line}`)
    .join('\n')
}
