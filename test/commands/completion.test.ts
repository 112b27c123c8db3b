import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { parquetry } from './parquetry.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'parquetry-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** How a shell is asked, with the script loaded, what may follow the words of a line; it prints one proposal a line. */
const SHELLS = {
  bash: (script: string, words: readonly string[]) => [
    '-c',
    `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _parquetry 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (script: string, words: readonly string[]) => [
    '-fc',
    // The parts of zsh's own machine that the function uses; zsh itself drops what doesn't begin as the word does.
    `compdef() { : }; compadd() { shift; print -rl -- \${(M)@:#\${words[CURRENT]}*} }; source ${script}; words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _parquetry`,
  ],
  fish: (script: string, words: readonly string[]) => [
    '--no-config',
    '-c',
    `source ${script}; complete -C '${words.join(' ')}'`,
  ],
} as const

test.each(
  Object.keys(SHELLS) as (keyof typeof SHELLS)[],
)('%s completes commands, their commands and options', async (shell) => {
  const there = await run(shell, ['-c', 'true']).catch(() => undefined)
  if (!there) {
    console.log(`skipped: completion in ${shell}, which is not there`)
    return
  }
  const script = join(folder, shell)
  writeFileSync(script, (await parquetry(['completion', shell])).stdout)
  const proposed = async (...words: string[]) => {
    const { stdout } = await run(shell, [...SHELLS[shell](script, words)])
    return stdout.split('\n').map((line) => line.split('\t')[0])
  }
  expect(await proposed('parquetry', 'exp')).toContain('export')
  expect(await proposed('parquetry', 'exp')).not.toContain('import')
  expect(await proposed('parquetry', 'account', '')).toEqual(
    expect.arrayContaining(['create', 'list', 'set-plan']),
  )
  expect(await proposed('parquetry', 'export', '--or')).toContain('--orderby')
  expect(await proposed('parquetry', 'account', 'create', '--pl')).toContain('--plan')
  expect(await proposed('parquetry', '--ser')).toContain('--server')
})
