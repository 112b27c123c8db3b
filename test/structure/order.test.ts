import { expect, test } from 'vitest'
import { imports, sources } from './sources.ts'

/**
 * The folders of the server, lowest first: each may import those before it. `.` is the files beside the folders, which
 * put the others together.
 */
const ORDER = [
  'records',
  'client',
  'http',
  'config',
  'openapi',
  'accounts',
  'guards',
  'transfers',
  'sources',
  'routes',
  'odata',
  'iceberg',
  'mcp',
  '.',
  'commands',
]

/** What the files beside the folders have that the folders may use: the parts that a server has, and its version. */
const SHARED = ['server/services.ts', 'server/version.ts', 'server/index.ts']
/** Starts the command line. */
const START = 'server/main.ts'

const folderOf = (file: string) => (file.split('/').length > 2 ? file.split('/')[1]! : '.')

test('each folder of the server imports only those below it', () => {
  const files = sources('server').filter((file) => !file.startsWith('server/console/') && file !== START)
  expect([...new Set(files.map(folderOf))].sort()).toEqual([...ORDER].sort())
  const wrong = files.flatMap((file) =>
    imports(file)
      .filter((target) => target.startsWith('server/') && !SHARED.includes(target))
      .filter((target) => ORDER.indexOf(folderOf(target)) > ORDER.indexOf(folderOf(file)))
      .map((target) => `${file} imports ${target}`),
  )
  expect(wrong).toEqual([])
})
