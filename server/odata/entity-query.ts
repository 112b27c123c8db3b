import {
  type ColumnType,
  EngineError,
  type ODataJson,
  type PastVersion,
  pastVersion,
  type Query,
  type Snapshot,
  type View,
} from '../../engine/index.ts'
import { fromHttp, type ParametersOf, QUERY, VERSION } from '../../engine/options.ts'
import { ODataError } from './errors.ts'
import { type EntitySet, edmType, KEY, propertiesOf, typeName } from './metadata/model.ts'
import type { JsonRequest } from './negotiate.ts'

/** The options for rows. OData has no `$last`. */
export const { last: _, ...OF_ROWS } = QUERY

/** The query options that select and shape rows, and say of which version. */
export type RowOptions = ParametersOf<typeof OF_ROWS & typeof VERSION>

/** The version that the options mean; undefined for the current one. @throws EngineError `invalid_option` */
export function versionIn(options: RowOptions): PastVersion | undefined {
  return pastVersion(fromHttp(options, VERSION))
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
  const select = withIds && columns ? [ENTITY_ID, ...columns] : columns
  const query = namingProperties(snapshot, names, () =>
    snapshot.query({ ...fromHttp(options, OF_ROWS), select }, view),
  )
  const alias = addedNames(query.plan.steps).find((name) => name === KEY || names.includes(name))
  if (alias !== undefined) {
    query[Symbol.dispose]()
    throw new ODataError(
      'badRequest',
      `${alias} is the name of a property. Choose another name for what is calculated.`,
      '$apply',
    )
  }
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

/** Runs `work`; an error that quotes the name of a column says by which name the property goes here. */
function namingProperties<T>({ columns }: Snapshot, names: readonly string[], work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof EngineError) || !/^invalid_(columns|filter)$/.test(error.code)) throw error
    const { code, message, details } = error
    const told = columns.flatMap(({ name }, at) =>
      name !== names[at] && message.includes(name)
        ? [`${JSON.stringify(name)} is called ${names[at]} here.`]
        : [],
    )
    if (told.length === 0) throw error
    throw new EngineError(code, [message, ...told.slice(0, 5)].join(' '), { ...(details && { details }) })
  }
}

/** The names that transformations give. None may be that of a property (Data Aggregation 4.0, 3.1.1). */
function addedNames(steps: Query['plan']['steps']): string[] {
  return steps.flatMap((step) => {
    if (step.kind === 'concat') return step.branches.flatMap((branch) => addedNames(branch.steps))
    return step.kind === 'group' || step.kind === 'compute' ? step.added.map(({ name }) => name) : []
  })
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
