import type { EntitySet, Property } from './model.ts'

/** A constant or a collection of an annotation (CSDL XML 4.01, 14.3 and 14.4). */
export type Value = string | number | boolean | readonly Value[] | Fields

interface Fields {
  readonly [property: string]: Value
}

/** A term by its qualified name, and its value. */
export type Annotation = readonly [term: string, value: Value]

/** The vocabularies that annotations come from: namespace, alias, and where they are described. */
export const VOCABULARIES = ['Core', 'Capabilities', 'Aggregation'].map((alias) => ({
  alias,
  namespace: `Org.OData.${alias}.V1`,
  uri: `https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.${alias}.V1.xml`,
}))

/** A term of ours for the name that a dataset or a column has where names may hold any character. */
export const ORIGINAL_NAME = 'OriginalName'

const named = (name: string, original: string, description: string): Annotation[] => [
  ...(original === name ? [] : [[`Self.${ORIGINAL_NAME}`, original] as const]),
  ...(description === '' ? [] : [['Core.Description', description] as const]),
]

export function propertyAnnotations({ name, column, description }: Property): Annotation[] {
  return named(name, column, description)
}

/** What may be asked of every entity set: all of reading, nothing of writing. */
export function setAnnotations({ name, title, description }: EntitySet): Annotation[] {
  return [
    ...named(name, title, description),
    ['Capabilities.TopSupported', true],
    ['Capabilities.SkipSupported', true],
    ['Capabilities.ComputeSupported', true],
    ['Capabilities.IndexableByKey', true],
    ['Capabilities.CountRestrictions', { Countable: true }],
    ['Capabilities.FilterRestrictions', { Filterable: true }],
    ['Capabilities.SortRestrictions', { Sortable: true }],
    ['Capabilities.SelectSupport', { Supported: true }],
    ['Capabilities.SearchRestrictions', { Searchable: true }],
    ['Capabilities.ExpandRestrictions', { Expandable: false }],
    ['Capabilities.InsertRestrictions', { Insertable: false }],
    ['Capabilities.UpdateRestrictions', { Updatable: false }],
    ['Capabilities.DeleteRestrictions', { Deletable: false }],
    ['Aggregation.ApplySupported', { Transformations: TRANSFORMATIONS, Rollup: 'None' }],
  ]
}

export const CONTAINER_ANNOTATIONS: readonly Annotation[] = [
  ['Capabilities.SupportedFormats', ['application/json']],
  ['Capabilities.AsynchronousRequestsSupported', false],
  ['Capabilities.BatchSupport', { Supported: true, SupportedFormats: ['application/json'] }],
  ['Capabilities.QuerySegmentSupported', true],
]

const TRANSFORMATIONS = [
  'aggregate',
  'bottomcount',
  'bottompercent',
  'bottomsum',
  'compute',
  'concat',
  'filter',
  'groupby',
  'identity',
  'orderby',
  'search',
  'skip',
  'top',
  'topcount',
  'toppercent',
  'topsum',
]

/** Values that are members of an enumeration, by property: they are written as such, not as text. */
export const ENUM_TYPES: Readonly<Record<string, string>> = { Rollup: 'Aggregation.RollupType' }
