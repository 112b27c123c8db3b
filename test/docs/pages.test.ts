import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FORMATS_IN_PROSE } from '../../engine/ingest/upload-format.ts'
import { makeProgram } from '../../server/commands/program.ts'
import { ERROR_TABLE } from '../../server/http/errors.ts'
import { platform } from '../server/platform.ts'
import { autoPage } from './pages/auto.ts'
import { commandPage } from './pages/command.ts'
import { configurationPage } from './pages/configuration.ts'
import { ADVICE, errorPage, errorsPage } from './pages/errors.ts'
import { httpPage } from './pages/http.ts'
import { optionsPage } from './pages/options.ts'

const docs = join(import.meta.dirname, '../../docs')

test.each([
  ['reference/options', optionsPage],
  ['reference/auto', autoPage],
  ['reference/configuration', configurationPage],
  ['reference/command', () => commandPage(makeProgram())],
  ['errors/index', errorsPage],
])('the page %s is what the code says', async (name, page) => {
  await expect(page()).toMatchFileSnapshot(join(docs, `${name}.md`))
})

test('the page on the HTTP API is what the API description says', async () => {
  await using service = await platform()
  const page = httpPage((await service.call(undefined, 'GET', '/openapi.json')).json())
  await expect(page).toMatchFileSnapshot(join(docs, 'reference/http.md'))
})

test('the README lists the formats of uploads', () => {
  expect(readFileSync(join(docs, '../README.md'), 'utf8')).toContain(`| ${FORMATS_IN_PROSE}, with options`)
})

test('each error has advice and a page, and nothing else has', () => {
  const codes = [...ERROR_TABLE.keys()].toSorted()
  expect(Object.keys(ADVICE).toSorted()).toEqual(codes)
  const pages = readdirSync(join(docs, 'errors'))
    .filter((name) => name !== 'index.md')
    .map((name) => name.replace(/\.md$/, ''))
  expect(pages.toSorted()).toEqual(codes)
})

test.each([...ERROR_TABLE.keys()])('the page about %s is what the code says', async (code) => {
  await expect(errorPage(code)).toMatchFileSnapshot(join(docs, 'errors', `${code}.md`))
})
