import type { ODataVersion } from '../negotiate.ts'
import {
  type Annotation,
  CONTAINER_ANNOTATIONS,
  ENUM_TYPES,
  KEY_ANNOTATIONS,
  ORIGINAL_NAME,
  PATHS,
  propertyAnnotations,
  setAnnotations,
  type Value,
} from './annotations.ts'
import {
  CONTAINER,
  type DescribedSet,
  type EdmType,
  forContainer,
  KEY,
  NAMESPACE,
  type Pages,
  slices,
  typeName,
} from './model.ts'

/** The service's metadata as CSDL XML (OData CSDL XML 4.01), piece by piece. */
export async function* csdlXml(pages: Pages, version: ODataVersion): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="${version}"><edmx:DataServices>` +
    `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${NAMESPACE}" Alias="Self">`
  const sets: DescribedSet[] = []
  for await (const page of pages) {
    sets.push(...page.map(forContainer))
    yield page.map(entityType).join('')
  }
  yield element('Term', { Name: ORIGINAL_NAME, Type: 'Edm.String', AppliesTo: 'EntitySet Property' })
  yield `<EntityContainer Name="${CONTAINER}">`
  for await (const some of slices(sets)) yield some.map(entitySet).join('')
  yield `${CONTAINER_ANNOTATIONS.map(annotation).join('')}</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>\n`
}

function entitySet(set: DescribedSet): string {
  const attributes = { Name: set.name, EntityType: typeName(set) }
  return element('EntitySet', attributes, setAnnotations(set).map(annotation))
}

function entityType(set: DescribedSet): string {
  return element('EntityType', { Name: typeName(set).slice(NAMESPACE.length + 1) }, [
    element('Key', {}, [element('PropertyRef', { Name: KEY })]),
    element('Property', { Name: KEY, Type: 'Edm.Int64', Nullable: 'false' }, [
      ...KEY_ANNOTATIONS.map(annotation),
    ]),
    ...set.properties.map((property) =>
      element(
        'Property',
        {
          Name: property.name,
          ...typeAttributes(property.type),
          ...(!property.nullable && { Nullable: 'false' }),
        },
        propertyAnnotations(property).map(annotation),
      ),
    ),
  ])
}

function typeAttributes({ name, precision, scale }: EdmType): Record<string, string> {
  return {
    Type: name,
    ...(precision !== undefined && { Precision: String(precision) }),
    ...(scale !== undefined && { Scale: String(scale) }),
  }
}

/** Annotations that are the same for many sets, which would otherwise take half of the time. */
const written = new WeakMap<Annotation, string>()

function annotation(one: Annotation): string {
  const known = written.get(one)
  if (known !== undefined) return known
  const [term, value] = one
  const simple = attributeOf(value)
  const xml = simple
    ? element('Annotation', { Term: term, ...simple })
    : element('Annotation', { Term: term }, [expression(value)])
  written.set(one, xml)
  return xml
}

/** A constant in attribute notation; undefined for collections and records. */
function attributeOf(value: Value): Record<string, string> | undefined {
  if (typeof value === 'string') return { String: value }
  if (typeof value === 'boolean') return { Bool: String(value) }
  if (typeof value === 'number') return { Int: String(value) }
  return undefined
}

function expression(value: Value, textElement: 'String' | 'PropertyPath' = 'String'): string {
  if (typeof value === 'string') return element(textElement, {}, [text(value)])
  if (typeof value === 'boolean') return element('Bool', {}, [String(value)])
  if (typeof value === 'number') return element('Int', {}, [String(value)])
  if (Array.isArray(value))
    return element(
      'Collection',
      {},
      value.map((item) => expression(item, textElement)),
    )
  const fields = Object.entries(value).map(([property, inner]) => {
    const enumType = ENUM_TYPES[property]
    if (enumType) return element('PropertyValue', { Property: property, EnumMember: `${enumType}/${inner}` })
    const simple = attributeOf(inner)
    return simple
      ? element('PropertyValue', { Property: property, ...simple })
      : element('PropertyValue', { Property: property }, [
          expression(inner, PATHS.has(property) ? 'PropertyPath' : 'String'),
        ])
  })
  return element('Record', {}, fields)
}

function element(name: string, attributes: Record<string, string>, children: readonly string[] = []): string {
  let start = `<${name}`
  for (const key in attributes) start += ` ${key}="${text(attributes[key]!)}"`
  return children.length === 0 ? `${start}/>` : `${start}>${children.join('')}</${name}>`
}

/** Text that stays as it is. */
const PLAIN = /^[\w .:/-]*$/

/** Escapes text for XML, and replaces characters that XML 1.0 can't contain (2.2). */
function text(value: string): string {
  if (PLAIN.test(value)) return value
  return value
    .toWellFormed()
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}
