import type { ColumnType, ODataJson, Query, QueryOptions, Snapshot, View } from '../../engine/index.ts'
import { ALIASES } from '../http/query.ts'
import { type EntitySet, edmType, KEY, propertiesOf, typeName } from './metadata/model.ts'
import type { JsonRequest } from './negotiate.ts'

/** The system query options that select and shape rows. */
export interface RowOptions {
  readonly $filter?: string
  readonly $select?: string
  readonly $orderby?: string
  readonly $top?: number
  readonly $skip?: number
  readonly $compute?: string
  readonly $search?: string
  readonly $apply?: string
  /** The values of parameter aliases. */
  readonly [ALIASES]?: Readonly<Record<string, string>>
}

/** A query on an entity set that is ready to run. */
export interface EntityQuery {
  readonly query: Query
  /** Options of the JSON encoder. */
  readonly odata: ODataJson
  /** The part of the context URL that lists the columns (Protocol 4.01, 10.8): empty, or `(a,b)`. */
  readonly projection: string
}

const ENTITY_ID = '@odata.id'

/**
 * Prepares a query on one version of a dataset, using the property names that `$metadata` declares. The caller disposes
 * the query.
 * @throws EngineError if an option is wrong
 */
export function entityQuery(
  set: EntitySet,
  snapshot: Snapshot,
  options: RowOptions,
  json: JsonRequest,
): EntityQuery {
  const names = propertiesOf(snapshot.columns).map(({ name }) => name)
  const declared = options.$apply === undefined ? [KEY, ...names] : []
  // The results of `$apply` are not entities, so they have no id.
  const withIds = json.metadata === 'full' && options.$apply === undefined
  const view: View = { names, rowNumbers: withIds ? [KEY, ENTITY_ID] : [KEY] }
  const selected = selection(options.$select, declared)
  const columns =
    selected ?? (options.$apply === undefined && options.$compute === undefined ? declared : undefined)
  const query = snapshot.query(
    engineOptions(options, withIds && columns ? [ENTITY_ID, ...columns] : columns),
    view,
  )
  const shown = query.plan.columns.filter(({ name }) => name !== ENTITY_ID)
  const typed = shown.filter(
    ({ name }) => json.metadata === 'full' || (json.metadata === 'minimal' && !declared.includes(name)),
  )
  return {
    query,
    odata: {
      ieee754: json.ieee754,
      before: new Map([
        ...typed.flatMap(({ name, type }) => typeAnnotation(name, type)),
        ...(withIds ? [[ENTITY_ID, member('@odata.type', `#${typeName(set)}`)] as const] : []),
      ]),
      ...(withIds && { within: new Map([[ENTITY_ID, [`${set.name}(`, ')'] as const]]) }),
    },
    projection:
      selected || options.$apply !== undefined ? `(${shown.map(({ name }) => name).join(',')})` : '',
  }
}

function engineOptions(options: RowOptions, select: readonly string[] | undefined): QueryOptions {
  const given = {
    filter: options.$filter,
    orderBy: options.$orderby,
    compute: options.$compute,
    search: options.$search,
    apply: options.$apply,
    aliases: options[ALIASES],
    skip: options.$skip,
    top: options.$top,
    select,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** The names in `$select`, with `*` replaced by all declared properties; undefined if the client makes no choice. */
function selection(text: string | undefined, declared: readonly string[]): string[] | undefined {
  const names = text?.split(',').map((item) => item.trim())
  if (names === undefined || (names.length === 1 && names[0] === '*')) return undefined
  return [...new Set(names.flatMap((name) => (name === '*' ? declared : [name])))]
}

/** Types that need no annotation because the JSON value shows them (JSON Format 4.01, 4.6.3). */
const TOLD_BY_JSON: ReadonlySet<string> = new Set(['Edm.String', 'Edm.Boolean', 'Edm.Double'])

function typeAnnotation(name: string, type: ColumnType): [name: string, json: string][] {
  const edm = edmType(type).name
  return TOLD_BY_JSON.has(edm) ? [] : [[name, member(`${name}@odata.type`, `#${edm.slice('Edm.'.length)}`)]]
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)},`
}
