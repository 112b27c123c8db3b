import { spawnSync } from 'node:child_process'

/*
 * `npm test`: all parts, whatever fails, so that one failure does not hide what another part would have found. At the end
 * it says which parts failed, and exits with 1 if any did.
 */

const PARTS = ['check', 'test:service', 'test:console']

const failed = PARTS.filter(
  (part) =>
    spawnSync('npm', ['run', part], { stdio: 'inherit', shell: process.platform === 'win32' }).status !== 0,
)
for (const part of PARTS) console.log(`${failed.includes(part) ? 'FAILED' : 'passed'}: npm run ${part}`)
if (failed.length > 0) process.exitCode = 1
