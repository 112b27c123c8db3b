import { TRANSFORMATIONS } from '../../../engine/filter/syntax/option-complaints.ts'
import type { DescribedSet, Property } from './model.ts'

/** The value of an annotation: a constant, a collection or a record (CSDL XML 4.01, 14.3 and 14.4). */
export type Value = string | number | boolean | readonly Value[] | Fields

interface Fields {
  readonly [property: string]: Value
}

/** The qualified name of a term, and its value. */
export type Annotation = readonly [term: string, value: Value]

/**
 * Namespaces of the standard vocabularies. `$metadata` has no references to the documents that define them, because
 * Olingo loads such documents before it reads anything else, and fails if it can't reach them.
 */
const CORE = 'Org.OData.Core.V1'
const CAPABILITIES = 'Org.OData.Capabilities.V1'
const AGGREGATION = 'Org.OData.Aggregation.V1'

/** Our own term for the original name of a dataset or column, which may contain any character. */
export const ORIGINAL_NAME = 'OriginalName'

const named = (name: string, original: string, description: string): Annotation[] => [
  ...(original === name ? [] : [[`Self.${ORIGINAL_NAME}`, original] as const]),
  ...(description === '' ? [] : [[`${CORE}.Description`, description] as const]),
]

export function propertyAnnotations({ name, column, description }: Property): Annotation[] {
  return named(name, column, description)
}

export const KEY_ANNOTATIONS: readonly Annotation[] = [
  [`${CORE}.Description`, 'The number of the row in this version of the dataset, from 1.'],
  [`${CORE}.Computed`, true],
]

/**
 * Capabilities of an entity set: everything for reading, nothing for writing. Values of binary columns can't be compared
 * in `$filter`.
 */
export function setAnnotations({ name, title, description, properties }: DescribedSet): Annotation[] {
  const binary = properties.filter(({ type }) => type.name === 'Edm.Binary').map((property) => property.name)
  const filtered: Annotation =
    binary.length > 0 ? [FILTER_RESTRICTIONS, { Filterable: true, [NOT_FILTERED]: binary }] : ALL_FILTERED
  return [...named(name, title, description), ...ALL_READ, filtered, ...NONE_WRITTEN]
}

const ALL_READ: readonly Annotation[] = [
  [`${CAPABILITIES}.TopSupported`, true],
  [`${CAPABILITIES}.SkipSupported`, true],
  [`${CAPABILITIES}.ComputeSupported`, true],
  [`${CAPABILITIES}.IndexableByKey`, true],
  [`${CAPABILITIES}.CountRestrictions`, { Countable: true }],
]

const FILTER_RESTRICTIONS = `${CAPABILITIES}.FilterRestrictions`
const ALL_FILTERED: Annotation = [FILTER_RESTRICTIONS, { Filterable: true }]

export const CONTAINER_ANNOTATIONS: readonly Annotation[] = [
  [`${CAPABILITIES}.SupportedFormats`, ['application/json']],
  [`${CAPABILITIES}.AsynchronousRequestsSupported`, false],
  [`${CAPABILITIES}.BatchSupport`, { Supported: true, SupportedFormats: ['application/json'] }],
  [`${CAPABILITIES}.QuerySegmentSupported`, true],
]

const NONE_WRITTEN: readonly Annotation[] = [
  [`${CAPABILITIES}.SortRestrictions`, { Sortable: true }],
  [`${CAPABILITIES}.SelectSupport`, { Supported: true }],
  [`${CAPABILITIES}.SearchRestrictions`, { Searchable: true }],
  [`${CAPABILITIES}.ExpandRestrictions`, { Expandable: false }],
  [`${CAPABILITIES}.InsertRestrictions`, { Insertable: false }],
  [`${CAPABILITIES}.UpdateRestrictions`, { Updatable: false }],
  [`${CAPABILITIES}.DeleteRestrictions`, { Deletable: false }],
  [
    `${AGGREGATION}.ApplySupported`,
    { Transformations: TRANSFORMATIONS.toSorted(), Rollup: 'MultipleHierarchies' },
  ],
]

const NOT_FILTERED = 'NonFilterableProperties'

/** Properties of annotation records whose texts are the names of properties. They are written as such, not as strings. */
export const PATHS: ReadonlySet<string> = new Set([NOT_FILTERED])

/** Properties of annotation records whose values are enumeration members. They are written as such, not as strings. */
export const ENUM_TYPES: Readonly<Record<string, string>> = { Rollup: `${AGGREGATION}.RollupType` }
