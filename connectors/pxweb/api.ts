import type { Category, ConnectorContext, Place, UpstreamAnswer, UpstreamRequest } from '../connector.ts'
import { category } from '../connector.ts'
import { absent, Failure, notUnderstood } from '../failures.ts'
import {
  firstText,
  isRecord,
  type JsonRecord,
  list,
  number,
  openBody,
  optional,
  record,
  records,
  required,
  text,
} from '../read.ts'
import { readMetadata, readVariables, type Table, type Variable } from './cube.ts'
import type { Selection } from './key.ts'

/** What is at a path: a table, or what is below a folder. */
export type Node = { readonly table: Table; readonly id: string } | Required<Pick<Place, 'categories'>>

/** One version of the API of PxWeb. */
export interface PxApi {
  at(path: string, context: ConnectorContext): Promise<Node>
  /** @throws Failure if there is no such table */
  table(id: string, context: ConnectorContext): Promise<Table>
  /** All tables, as far as one request or a few can list them. */
  catalogue(context: ConnectorContext): Promise<readonly Category[]>
  /** The table and the key in the id of a series; undefined if it has no such parts. */
  split(id: string): readonly [table: string, key: string] | undefined
  /** Requests some codes of each variable of a table, and all of those of time. */
  data(table: string, described: Table, selection: Selection): UpstreamRequest
}

export function open(answer: UpstreamAnswer) {
  return openBody(answer, (body, status) => {
    // https://github.com/PxTools/PxWebApi/blob/main/PxWeb/Helper/Api2/ProblemUtility.cs
    if (status === 403 && /^too many cells/i.test(text(record(body)['title']) ?? ''))
      throw new Failure('too-many-cells')
    return body
  })
}

/** Codes to be sent: `*` for all of them. */
function sent(variable: Variable, codes: readonly string[]): readonly string[] {
  return codes.length === variable.codes.length ? ['*'] : codes
}

/** Tables per page of the list. */
const TABLES = 10_000
const ENGLISH = { lang: 'en' }

/**
 * https://www.pxtools.net/PxWebApi/documentation/user-guide. Each table says in which folders it is; there is no other
 * list of folders. Paths are `be/be05/folkemengde` for a folder and `05810` for a table, or both.
 */
export const v2: PxApi = {
  async at(path, context) {
    const tables = await tablesOf(context)
    const below = childrenOf(path, tables)
    if (below.length > 0 || path === '') return { categories: () => below }
    const id = path.slice(path.lastIndexOf('/') + 1)
    return { id, table: await v2.table(id, context) }
  },
  table: (id, { cached }) =>
    cached({ path: ['tables', id, 'metadata'], query: ENGLISH }, (answer) => readMetadata(open(answer))),
  catalogue: async (context) => (await tablesOf(context)).map((table) => asCategory('', table)),
  split: (id) => splitBy(/^([^/]+)(?:\/(.*))?$/s, id),
  data: (table, { variables, times }, selection) => ({
    method: 'POST',
    path: ['tables', table, 'data'],
    query: { ...ENGLISH, outputFormat: 'json-stat2' },
    json: {
      selection: [
        ...variables.map((each, at) => ({ variableCode: each.id, valueCodes: sent(each, selection[at]!) })),
        ...times.map(({ id }) => ({ variableCode: id, valueCodes: ['*'] })),
      ],
    },
  }),
}

/** An entry of the list of tables. */
type Listed = ReturnType<typeof readListed>

function readListed(row: JsonRecord) {
  const id = text(row['id']) ?? ''
  const span = [firstText(row, 'firstPeriod'), firstText(row, 'lastPeriod')].filter((each) => each !== null)
  return {
    id,
    name: text(row['label']) ?? id,
    description: [text(row['timeUnit'])?.toLowerCase(), span.join(' to ')].filter(Boolean).join(', '),
    folders: list(row['paths']).map((path) =>
      records(path).map((folder) => ({ id: text(folder['id']) ?? '', name: text(folder['label']) ?? '' })),
    ),
  }
}

async function tablesOf({ cached }: ConnectorContext): Promise<readonly Listed[]> {
  const all: Listed[] = []
  for (let pageNumber = 1; ; pageNumber++) {
    const request = { path: ['tables'], query: { ...ENGLISH, pageSize: TABLES, pageNumber } }
    const page = await cached(request, (answer) => {
      if (answer.status === 404) throw notUnderstood('the list of tables is missing')
      const body = record(open(answer))
      return {
        tables: required(body, 'tables').map(readListed),
        pages: number(record(body['page'])['totalPages']) ?? 1,
      }
    })
    all.push(...page.tables)
    if (pageNumber >= page.pages) return all
  }
}

function asCategory(path: string, { id, name, description }: Listed): Category {
  return category(path === '' ? id : `${path}/${id}`, name, description)
}

/** The folders and the tables directly below a folder; `''` is the root. */
function childrenOf(path: string, tables: readonly Listed[]): readonly Category[] {
  const depth = path === '' ? 0 : path.split('/').length
  const found = new Map<string, Category>()
  for (const table of tables) {
    for (const folders of table.folders.length > 0 ? table.folders : [[]]) {
      const ids = folders.map(({ id }) => id)
      if (ids.slice(0, depth).join('/') !== path) continue
      const next = folders[depth]
      const child =
        next === undefined
          ? asCategory(path, table)
          : category(ids.slice(0, depth + 1).join('/'), next.name, '', false)
      found.set(child.path, child)
    }
  }
  return [...found.values()]
}

/**
 * https://www.scb.se/api_en: folders and tables by their addresses below the base, which names language and database.
 * The names of tables end with `.px`, unless the office keeps them in a database.
 */
export const v1: PxApi = {
  async at(path, { cached }) {
    const node = await cached({ path: segments(path) }, (answer): Table | readonly JsonRecord[] => {
      const body = open(answer)
      if (isRecord(body) && Array.isArray(body['variables'])) return readVariables(body)
      const rows = records(Array.isArray(body) ? body : null)
      if (rows.length === 0) throw notUnderstood('neither a table nor a folder')
      return rows
    })
    if ('variables' in node) return { id: path, table: node }
    return { categories: () => node.flatMap((row) => entry(path, row) ?? []) }
  },
  async table(id, context) {
    const node = await v1.at(id, context)
    if (!('table' in node)) throw absent()
    return node.table
  },
  // Not all offices have this index: https://pxdata.stat.fi/api1.html
  async catalogue(context) {
    const request = { path: [], query: { query: '*', filter: '*' } }
    const found = await optional(context.cached(request, (answer) => records(open(answer))))
    const tables = (found ?? []).flatMap((row) => {
      const id = text(row['id'])
      return id === null ? [] : [category(id, text(row['title']) ?? id)]
    })
    if (tables.length > 0) return tables
    const root = await v1.at('', context)
    return 'categories' in root ? root.categories() : []
  },
  split: (id) => splitBy(/\.px(\/|$)/i.test(id) ? /^(.+?\.px)(?:\/(.*))?$/is : /^(.+?)(?:\/([^/]*))?$/, id),
  data: (table, { variables, times }, selection) => ({
    method: 'POST',
    path: segments(table),
    json: {
      query: [
        ...variables.map((each, at) => ({ code: each.id, selection: selected(each, selection[at]!) })),
        ...times.map(({ id }) => ({ code: id, selection: WHOLE })),
      ],
      response: { format: 'json-stat2' },
    },
  }),
}

const WHOLE = { filter: 'all', values: ['*'] }

function selected(variable: Variable, codes: readonly string[]) {
  return codes.length === variable.codes.length ? WHOLE : { filter: 'item', values: codes }
}

function segments(path: string): readonly string[] {
  return path === '' ? [] : path.split('/')
}

/** `{dbid, text}` or `{id, type, text}`, of which `t` is the type of a table, and `h` that of a heading. */
function entry(path: string, row: JsonRecord): Category | undefined {
  const id = firstText(row, 'id', 'dbid')
  if (id === null || row['type'] === 'h') return undefined
  return category(path === '' ? id : `${path}/${id}`, text(row['text']) ?? id, '', row['type'] === 't')
}

/** A table that has no variable but time has no key. */
function splitBy(pattern: RegExp, id: string): readonly [string, string] | undefined {
  const [, table, key = ''] = pattern.exec(id) ?? []
  return table === undefined ? undefined : [table, key]
}
