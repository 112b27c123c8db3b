import { TRANSFORMATIONS } from '../../engine/filter/syntax/option-complaints.ts'
import {
  CONTAINER,
  type DescribedSet,
  type EdmType,
  forContainer,
  KEY,
  NAMESPACE,
  type Property,
  slices,
  typeName,
} from './model.ts'
import type { ODataVersion } from './negotiate.ts'

/** Sets with their properties, some at a time, so that describing 20,000 of them doesn't block the event loop. */
type Pages = AsyncIterable<readonly DescribedSet[]> | Iterable<readonly DescribedSet[]>

interface Form {
  readonly start: string
  entityType(set: DescribedSet): string
  /** Our own term, and the start of the container. */
  readonly between: string
  entitySet(set: DescribedSet): string
  readonly end: string
}

/** The service's metadata as CSDL XML (OData CSDL XML 4.01), piece by piece. */
export function csdlXml(pages: Pages, version: ODataVersion): AsyncGenerator<string> {
  return csdl(pages, xmlForm(version))
}

/** The service's metadata as CSDL JSON (OData CSDL JSON 4.01), piece by piece. */
export function csdlJson(pages: Pages): AsyncGenerator<string> {
  return csdl(pages, JSON_FORM)
}

async function* csdl(pages: Pages, form: Form): AsyncGenerator<string> {
  yield form.start
  const sets: DescribedSet[] = []
  for await (const page of pages) {
    sets.push(...page.map(forContainer))
    yield page.map(form.entityType).join('')
  }
  yield form.between
  for await (const some of slices(sets)) yield some.map(form.entitySet).join('')
  yield form.end
}

/** The value of an annotation: a constant, a collection or a record (CSDL XML 4.01, 14.3 and 14.4). */
type Value = Constant | Readonly<Record<string, Constant>>
type Constant = string | boolean | readonly string[]

/** The qualified name of a term, and its value. */
type Annotation = readonly [term: string, value: Value]

/**
 * Namespaces of the standard vocabularies. `$metadata` has no references to the documents that define them, because
 * Olingo loads such documents before it reads anything else, and fails if it can't reach them.
 */
const CORE = 'Org.OData.Core.V1'
const CAPABILITIES = 'Org.OData.Capabilities.V1'
const AGGREGATION = 'Org.OData.Aggregation.V1'

/** Our own term for the original name of a dataset or column, which may contain any character. */
const ORIGINAL_NAME = 'OriginalName'

const named = (name: string, original: string, description: string): Annotation[] => [
  ...(original === name ? [] : [[`Self.${ORIGINAL_NAME}`, original] as const]),
  ...(description === '' ? [] : [[`${CORE}.Description`, description] as const]),
]

const ofProperty = ({ name, column, description }: Property) => named(name, column, description)

const OF_KEY: readonly Annotation[] = [
  [`${CORE}.Description`, 'The number of the row in this version of the dataset, from 1.'],
  [`${CORE}.Computed`, true],
]

const OF_CONTAINER: readonly Annotation[] = [
  [`${CAPABILITIES}.SupportedFormats`, ['application/json']],
  [`${CAPABILITIES}.AsynchronousRequestsSupported`, false],
  [
    `${CAPABILITIES}.BatchSupport`,
    { Supported: true, SupportedFormats: ['application/json', 'multipart/mixed'] },
  ],
  [`${CAPABILITIES}.QuerySegmentSupported`, true],
]

/**
 * Capabilities of an entity set: everything for reading, nothing for writing. Values of binary columns can't be compared
 * in `$filter`.
 */
function ofSet({ name, title, description, properties }: DescribedSet): Annotation[] {
  const binary = properties.filter(({ type }) => type.name === 'Edm.Binary').map((property) => property.name)
  const filtered: Annotation =
    binary.length > 0 ? [FILTER_RESTRICTIONS, { Filterable: true, [NOT_FILTERED]: binary }] : ALL_FILTERED
  return [...named(name, title, description), ...READ_ONLY, filtered]
}

const FILTER_RESTRICTIONS = `${CAPABILITIES}.FilterRestrictions`
const NOT_FILTERED = 'NonFilterableProperties'
const ALL_FILTERED: Annotation = [FILTER_RESTRICTIONS, { Filterable: true }]

const READ_ONLY: readonly Annotation[] = [
  [`${CAPABILITIES}.TopSupported`, true],
  [`${CAPABILITIES}.SkipSupported`, true],
  [`${CAPABILITIES}.ComputeSupported`, true],
  [`${CAPABILITIES}.IndexableByKey`, true],
  [`${CAPABILITIES}.CountRestrictions`, { Countable: true }],
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

const JSON_FORM: Form = {
  start: `{"$Version":"4.01","$EntityContainer":"${NAMESPACE}.${CONTAINER}","${NAMESPACE}":{"$Alias":"Self"`,
  entityType: (set) =>
    member(`${set.name}Row`, {
      $Kind: 'EntityType',
      $Key: [KEY],
      [KEY]: { $Type: 'Edm.Int64', ...members(OF_KEY) },
      ...Object.fromEntries(set.properties.map((property) => [property.name, propertyObject(property)])),
    }),
  between: `${member(ORIGINAL_NAME, { $Kind: 'Term', $AppliesTo: ['EntitySet', 'Property'] })},"${CONTAINER}":{"$Kind":"EntityContainer"`,
  entitySet: (set) => member(set.name, { $Collection: true, $Type: typeName(set), ...members(ofSet(set)) }),
  end: `${OF_CONTAINER.map(([term, value]) => member(`@${term}`, value)).join('')}}}}`,
}

function member(name: string, value: unknown): string {
  return `,${JSON.stringify(name)}:${JSON.stringify(value)}`
}

function members(annotations: readonly Annotation[]): Record<string, Value> {
  return Object.fromEntries(annotations.map(([term, value]) => [`@${term}`, value]))
}

function propertyObject(property: Property): Record<string, unknown> {
  const { name, precision, scale } = property.type
  return {
    $Type: name,
    ...(property.nullable && { $Nullable: true }),
    ...(precision !== undefined && { $Precision: precision }),
    ...(scale !== undefined && { $Scale: scale }),
    ...members(ofProperty(property)),
  }
}

const xmlForm = (version: ODataVersion): Form => ({
  start:
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="${version}"><edmx:DataServices>` +
    `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${NAMESPACE}" Alias="Self">`,
  entityType: (set) =>
    element('EntityType', { Name: `${set.name}Row` }, [
      element('Key', {}, [element('PropertyRef', { Name: KEY })]),
      element('Property', { Name: KEY, Type: 'Edm.Int64', Nullable: 'false' }, OF_KEY.map(annotation)),
      ...set.properties.map((property) =>
        element('Property', propertyAttributes(property), ofProperty(property).map(annotation)),
      ),
    ]),
  between:
    element('Term', { Name: ORIGINAL_NAME, Type: 'Edm.String', AppliesTo: 'EntitySet Property' }) +
    `<EntityContainer Name="${CONTAINER}">`,
  entitySet: (set) =>
    element('EntitySet', { Name: set.name, EntityType: typeName(set) }, ofSet(set).map(annotation)),
  end: `${OF_CONTAINER.map(annotation).join('')}</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>\n`,
})

function propertyAttributes({ name, type, nullable }: Property): Record<string, string> {
  const { precision, scale }: EdmType = type
  return {
    Name: name,
    Type: type.name,
    ...(precision !== undefined && { Precision: String(precision) }),
    ...(scale !== undefined && { Scale: String(scale) }),
    ...(!nullable && { Nullable: 'false' }),
  }
}

/** Annotations that are the same for many sets, which would otherwise take half of the time. */
const written = new WeakMap<Annotation, string>()

function annotation(one: Annotation): string {
  const known = written.get(one)
  if (known !== undefined) return known
  const [term, value] = one
  const isRecord = typeof value === 'object' && !Array.isArray(value)
  const xml = isRecord
    ? element('Annotation', { Term: term }, [
        element('Record', {}, Object.entries(value).map(recordProperty)),
      ])
    : constant('Annotation', { Term: term }, value as Constant)
  written.set(one, xml)
  return xml
}

/** Values of enumerations and names of properties are written as such, not as strings. */
function recordProperty([property, value]: [string, Constant]): string {
  if (property === 'Rollup') {
    const member = `${AGGREGATION}.RollupType/${value}`
    return element('PropertyValue', { Property: property, EnumMember: member })
  }
  const item = property === NOT_FILTERED ? 'PropertyPath' : 'String'
  return constant('PropertyValue', { Property: property }, value, item)
}

/** A text or a truth value is an attribute, a collection an element within. */
function constant(
  name: string,
  attributes: Record<string, string>,
  value: Constant,
  item: 'String' | 'PropertyPath' = 'String',
): string {
  if (typeof value === 'string') return element(name, { ...attributes, String: value })
  if (typeof value === 'boolean') return element(name, { ...attributes, Bool: String(value) })
  const items = value.map((one) => element(item, {}, [escapeXml(one)]))
  return element(name, attributes, [element('Collection', {}, items)])
}

function element(name: string, attributes: Record<string, string>, children: readonly string[] = []): string {
  let start = `<${name}`
  for (const key in attributes) start += ` ${key}="${escapeXml(attributes[key]!)}"`
  return children.length === 0 ? `${start}/>` : `${start}>${children.join('')}</${name}>`
}

/** Text that stays as it is. */
const PLAIN = /^[\w .:/-]*$/

/** Escapes text for XML, and replaces characters that XML 1.0 can't contain (2.2). */
export function escapeXml(value: string): string {
  if (PLAIN.test(value)) return value
  return value
    .toWellFormed()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}
