import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, PATIENCE, run } from './client.ts'

const here = join(import.meta.dirname, 'openapi')

/** @throws if `use.mts` of a folder, or what it imports, has faults in the eyes of TypeScript */
async function checkTypes(folder: string): Promise<void> {
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    lib: ['es2023', 'dom', 'dom.iterable'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.mts'] }))
  await run('npx', ['tsc', '-p', '.'], { ...PATIENCE, cwd: folder })
}

/** Clients that generators make of our OpenAPI document; each must pass its language's type checker, upload and read. */
export function generatedClients(folder: string, address: string, key: string): readonly Client[] {
  const typescript = join(folder, 'openapi-typescript')
  const orval = join(folder, 'orval')
  const python = join(folder, 'openapi-python')
  const bin = (name: string) => join(python, 'venv/bin', name)
  const saveDocument = async (path: string) =>
    writeFileSync(path, await (await fetch(`${address}/openapi.json`)).text())
  return [
    {
      name: 'openapi-typescript and redocly',
      async install() {
        mkdirSync(typescript)
        writeFileSync(join(typescript, 'package.json'), '{"private":true,"type":"module"}')
        const packages = [
          'openapi-typescript@7',
          'openapi-fetch',
          '@redocly/cli',
          'typescript@5',
          '@types/node@24',
        ]
        await run('npm', ['install', '--no-audit', '--no-fund', ...packages], {
          ...PATIENCE,
          cwd: typescript,
        })
      },
      async read() {
        const cwd = { ...PATIENCE, cwd: typescript }
        await saveDocument(join(typescript, 'openapi.json'))
        const lint = await run('npx', ['redocly', 'lint', 'openapi.json', '--format=json'], cwd)
        const { problems } = JSON.parse(lint.stdout) as { problems: readonly { readonly ruleId: string }[] }
        await run('npx', ['openapi-typescript', 'openapi.json', '-o', 'api.d.ts'], cwd)
        copyFileSync(join(here, 'use.mts.txt'), join(typescript, 'use.mts'))
        await checkTypes(typescript)
        const used = await run(process.execPath, ['use.mts', address, key], cwd)
        return `warnings of redocly: ${problems.map(({ ruleId }) => ruleId).join() || 'none'}\n${used.stdout}`
      },
      finds: [
        'warnings of redocly: none',
        'uploaded 3 integer,string',
        String.raw`read "n;t\n2;\n3;x\n"`,
        'refused not_found',
      ],
    },
    {
      name: 'orval',
      async install() {
        mkdirSync(orval)
        writeFileSync(join(orval, 'package.json'), '{"private":true,"type":"module"}')
        const packages = ['orval@8.38.0', 'typescript@5', '@types/node@24']
        await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { ...PATIENCE, cwd: orval })
      },
      async read() {
        const cwd = { ...PATIENCE, cwd: orval }
        await saveDocument(join(orval, 'openapi.json'))
        copyFileSync(join(here, '../../../examples/orval.config.js'), join(orval, 'orval.config.js'))
        await run('npx', ['orval'], cwd)
        copyFileSync(join(here, 'orval.mts.txt'), join(orval, 'use.mts'))
        await checkTypes(orval)
        return (await run(process.execPath, ['use.mts', address, key], cwd)).stdout
      },
      finds: ['uploaded 2', String.raw`read "n;t\n2;\n"`],
    },
    {
      name: 'openapi-python-client',
      async install() {
        await run('python3', ['-m', 'venv', join(python, 'venv')], PATIENCE)
        await run(bin('pip'), ['install', '-q', 'openapi-python-client', 'ruff', 'mypy'], PATIENCE)
      },
      async read() {
        await saveDocument(join(python, 'openapi.json'))
        const env = { ...process.env, PATH: `${join(python, 'venv/bin')}:${process.env['PATH']}` }
        const cwd = { ...PATIENCE, cwd: python, env }
        const generated = await run(
          bin('openapi-python-client'),
          [
            ...['generate', '--path', 'openapi.json', '--output-path', 'made', '--meta', 'none'],
            ...['--config', join(here, '../../../examples/openapi-python-client.yml')],
          ],
          cwd,
        )
        // What the generator always writes, client.py, has faults of its own in the eyes of mypy.
        await run(
          bin('mypy'),
          ['--follow-imports=silent', 'made/api', 'made/models', join(here, 'use.py')],
          cwd,
        )
        const warnings = [...generated.stderr.matchAll(/^(?:WARNING|ERROR) parsing (.+) within/gm)]
        const used = await run(bin('python'), [join(here, 'use.py'), python, address, key], cwd)
        return `warnings: ${warnings.map(([, of]) => of).join()}\n${used.stdout}`
      },
      finds: [
        // Their bodies may be plain text, too.
        'warnings: POST /datasets/{id}/data/$query,POST /sql',
        "uploaded 2 ['integer', 'string']",
        String.raw`read 200 'n;t\n2;\n'`,
        "listed ['python']",
      ],
    },
  ]
}
