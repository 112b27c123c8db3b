import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LONG } from '../../long.ts'
import { platform, ROOT_KEY } from '../platform.ts'

/** On PyPI. Pinned, so that a failure can be had again. */
const PACKAGE = 'schemathesis==4.32.5'
/** Requests for each operation; PARQUETRY_SCHEMATHESIS says otherwise, and runs the test without the other long ones. */
const EXAMPLES = Number(process.env['PARQUETRY_SCHEMATHESIS'] ?? (LONG ? 100 : 0))

/** Chooses the same requests again. */
const SEED = process.env['PARQUETRY_SCHEMATHESIS_SEED'] ?? '1'

const folder = mkdtempSync(join(tmpdir(), 'parquetry-schemathesis-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function install(): boolean {
  const made = spawnSync('python3', ['-m', 'venv', folder])
  const options = ['install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:', PACKAGE]
  const done = made.status === 0 && spawnSync(join(folder, 'bin/pip'), options).status === 0
  if (!done) console.warn(`The test with schemathesis is left out: there is no Python, or no ${PACKAGE}.`)
  return done
}

test.runIf(EXAMPLES > 0 && install())(
  'the service does what its OpenAPI document says, and answers whatever else is asked',
  { timeout: 3_600_000 },
  async () => {
    await using at = await platform({ routes: { '*': { body: {} } } })
    const url = await at.listen()
    // Without the operation that ends the key which it is asked with.
    const options = ['--auth', `${ROOT_KEY}:`, '--exclude-operation-id', 'rotateApiKey']
    const effort = [
      '--max-examples',
      String(EXAMPLES),
      '--seed',
      SEED,
      '--phases',
      'examples,coverage,fuzzing',
    ]
    // 405 is not among our statuses, and what needs no key is public for everybody.
    const checks = ['--exclude-checks', 'unsupported_method,ignored_auth', '--suppress-health-check', 'all']
    const config = ['--config-file', join(import.meta.dirname, 'schemathesis.toml')]
    const child = spawn(
      join(folder, 'bin/schemathesis'),
      [...config, 'run', `${url}/openapi.json`, ...options, ...effort, ...checks, '--continue-on-failure'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    )
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code, said.slice(-20_000)).toBe(0)
    console.log(said.slice(said.indexOf('SUMMARY')))
  },
)
