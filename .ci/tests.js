// Says of vitest's results (its json reporter) how many tests passed (--passed), which were skipped (--left-out), which
// failed and why (--failed), or the files to try again (--again: exits with 1 unless one to three files failed, and
// nothing but tests did).
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const [what, ...paths] = process.argv.slice(2)
const runs = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')))
const says = { '--passed': passed, '--left-out': leftOut, '--failed': failed, '--again': again }
says[what](runs)

function passed(runs) {
  for (const { testResults, numPassedTests, numTotalTests } of runs)
    console.log(`  ${numPassedTests} of ${numTotalTests} tests passed in ${testResults.length} files`)
}

function leftOut(runs) {
  for (const { name, assertionResults } of runs.flatMap((run) => run.testResults)) {
    for (const { status, fullName } of assertionResults) {
      if (['pending', 'skipped', 'todo'].includes(status))
        console.log(`  ${relative('.', name)}: ${fullName}`)
    }
  }
}

function failed(runs) {
  for (const { name, status, message, assertionResults } of runs.flatMap((run) => run.testResults)) {
    const tests = assertionResults.filter((test) => test.status === 'failed')
    for (const { fullName, failureMessages } of tests) {
      console.log(`  FAILED ${relative('.', name)}: ${fullName}\n${beginning(failureMessages.join('\n'))}`)
    }
    if (status === 'failed' && tests.length === 0)
      console.log(`  FAILED ${relative('.', name)}\n${beginning(message)}`)
  }
}

function again(runs) {
  const filesOf = (run) => run.testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  const files = runs.flatMap(filesOf)
  const onlyTests = runs.every((run) => run.success || filesOf(run).length > 0)
  if (!onlyTests || files.length === 0 || files.length > 3) process.exit(1)
  console.log(files.map((file) => relative('.', file)).join(' '))
}

function beginning(message) {
  const lines = stripVTControlCharacters(message).split('\n')
  return lines
    .slice(0, 12)
    .map((line) => `    ${line}`)
    .join('\n')
}
