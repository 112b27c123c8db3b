import { XMLParser } from 'fast-xml-parser'

/** What a value of an attribute, or a text, must look like. */
const LETTERS = String.raw`[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]`
const simpleIdentifier = new RegExp(`^${LETTERS}{0,127}$`, 'u')
const qualifiedName = new RegExp(String.raw`^${LETTERS}*(\.${LETTERS}*)+$`, 'u')
const path = new RegExp(`^${LETTERS}*([./]${LETTERS}*)*$`, 'u')
const ofOurs = /^(?!Edm\.)/
const bool = /^(true|false)$/
const integer = /^[+-]?\d+$/
const count = /^\d+$/
const any = /^/

/** A path, attribute or text that some expressions are written as. */
const CONSTANTS = { String: any, Bool: bool, Int: integer, EnumMember: path }

const MODEL_ELEMENTS = [
  'EntityContainer',
  'EntitySet',
  'EntityType',
  'Property',
  'Schema',
  'Term',
] as const satisfies readonly string[]

interface Fact {
  /** The names of all children, each with a blank behind it. */
  readonly children: RegExp
  /** Attributes that must be there, and those that may; others may not. */
  readonly required?: Readonly<Record<string, RegExp>>
  readonly optional?: Readonly<Record<string, RegExp>>
  /** What an element without children may hold; nothing, where it is not said. */
  readonly text?: RegExp
}

const NONE = /^$/
const ANNOTATIONS = /^(Annotation )*$/
/** An annotation's or a property's value is one expression, with annotations around it. */
const EXPRESSION = '(String|Bool|Int|EnumMember|Collection|Record)'

/**
 * Facts of the XML schemas of OData CSDL XML 4.01 (edmx.xsd and edm.xsd), for the elements that describe flat tables:
 * order and number of children, attributes, and the patterns of their values. An element that is not here is one that
 * our service has no use for.
 */
const FACTS: Readonly<Record<string, Fact>> = {
  'edmx:Edmx': {
    children: /^(edmx:Reference )*edmx:DataServices (edmx:Reference )*$/,
    required: { Version: /^4\.01?$/ },
    optional: { 'xmlns:edmx': /^http:\/\/docs\.oasis-open\.org\/odata\/ns\/edmx$/ },
  },
  'edmx:DataServices': { children: /^(Schema )+$/ },
  Schema: {
    children: /^((EntityType|Term|Annotations|EntityContainer|Annotation) )*$/,
    required: { Namespace: path, xmlns: /^http:\/\/docs\.oasis-open\.org\/odata\/ns\/edm$/ },
    optional: { Alias: simpleIdentifier },
  },
  EntityType: {
    children: /^((Property|Annotation) )*(Key ((Property|Annotation) )*)?$/,
    required: { Name: simpleIdentifier },
    optional: { BaseType: qualifiedName, Abstract: bool, OpenType: bool, HasStream: bool },
  },
  Key: { children: /^(PropertyRef )+$/ },
  PropertyRef: { children: NONE, required: { Name: path }, optional: { Alias: simpleIdentifier } },
  Property: {
    children: ANNOTATIONS,
    required: {
      Name: simpleIdentifier,
      Type: /^Edm\.(Binary|Boolean|Date|DateTimeOffset|Decimal|Double|Guid|Int64|String|TimeOfDay|Untyped)$/,
    },
    optional: {
      Nullable: bool,
      DefaultValue: any,
      MaxLength: /^(max|\d+)$/,
      Precision: count,
      Scale: /^(floating|variable|\d+)$/,
      Unicode: bool,
    },
  },
  Term: {
    children: ANNOTATIONS,
    required: { Name: simpleIdentifier, Type: qualifiedName },
    optional: {
      Nullable: bool,
      BaseTerm: qualifiedName,
      AppliesTo: new RegExp(`^(${MODEL_ELEMENTS.join('|')})( (${MODEL_ELEMENTS.join('|')}))*$`),
    },
  },
  EntityContainer: {
    // The schema wants at least one child that is no annotation; the committee's own examples have an empty container,
    // and the text of the standard, which comes before the schema, wants a container in every service.
    children: /^(Annotation )*(EntitySet (Annotation )*)*$/,
    required: { Name: simpleIdentifier },
    optional: { Extends: qualifiedName },
  },
  EntitySet: {
    children: /^((NavigationPropertyBinding|Annotation) )*$/,
    required: {
      Name: simpleIdentifier,
      EntityType: new RegExp(`${ofOurs.source}${qualifiedName.source}`, 'u'),
    },
    optional: { IncludeInServiceDocument: bool },
  },
  Annotation: {
    children: new RegExp(`^(Annotation )*(${EXPRESSION} (Annotation )*)?$`),
    required: { Term: qualifiedName },
    optional: { Qualifier: simpleIdentifier, ...CONSTANTS },
  },
  Record: { children: /^((PropertyValue|Annotation) )*$/, optional: { Type: qualifiedName } },
  PropertyValue: {
    children: new RegExp(`^((Annotation|${EXPRESSION}) )*$`),
    required: { Property: simpleIdentifier },
    optional: CONSTANTS,
  },
  Collection: { children: new RegExp(`^(${EXPRESSION} )*$`) },
  String: { children: NONE, text: any },
  Bool: { children: NONE, text: bool },
  Int: { children: NONE, text: integer },
  EnumMember: { children: NONE, text: path },
}

/** An element as the parser gives it: its children under its name, its attributes under `:@`. */
type Node = { readonly ':@'?: Readonly<Record<string, string>>; readonly '#text'?: string } & {
  readonly [name: string]: unknown
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  ignoreDeclaration: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  htmlEntities: true,
})

const nameOf = (node: Node) => Object.keys(node).find((key) => key !== ':@')!

/** Where a document differs from the schema; empty where it is valid. */
export function schemaProblems(xml: string): string[] {
  const roots = (parser.parse(xml) as Node[]).filter((node) => nameOf(node) !== '#text')
  const names = roots.map(nameOf).join()
  return names === 'edmx:Edmx' ? problemsOf(roots[0]!, '') : [`the document holds ${names || 'nothing'}`]
}

function problemsOf(node: Node, above: string): string[] {
  const name = nameOf(node)
  const attributes = node[':@'] ?? {}
  const where = `${above}/${name}${attributes['Name'] === undefined ? '' : `[${attributes['Name']}]`}`
  const fact = FACTS[name]
  if (!fact) return [`${where}: there is no such element`]
  const all = node[name] as readonly Node[]
  const text = all.map((child) => child['#text'] ?? '').join('')
  const children = all.filter((child) => nameOf(child) !== '#text')
  const sequence = children.map((child) => `${nameOf(child)} `).join('')
  const known: Readonly<Record<string, RegExp>> = { ...fact.required, ...fact.optional }
  return [
    ...(fact.children.test(sequence) ? [] : [`${where}: its children are ${sequence || 'none'}`]),
    ...((fact.text ?? /^\s*$/).test(text) ? [] : [`${where}: it holds the text ${JSON.stringify(text)}`]),
    ...Object.keys(fact.required ?? {})
      .filter((attribute) => !Object.hasOwn(attributes, attribute))
      .map((attribute) => `${where}: it has no ${attribute}`),
    ...Object.entries(attributes)
      .filter(([attribute, value]) => !(Object.hasOwn(known, attribute) && known[attribute]!.test(value)))
      .map(([attribute, value]) => `${where}: ${attribute}=${JSON.stringify(value)} is not allowed`),
    ...children.flatMap((child) => problemsOf(child, where)),
  ]
}

/** Attributes of all elements of a name, in order. */
export function attributesOf(xml: string, name: string): Readonly<Record<string, string>>[] {
  const inside = (node: Node): Readonly<Record<string, string>>[] => {
    const own = nameOf(node)
    if (own === '#text') return []
    return [...(own === name ? [node[':@'] ?? {}] : []), ...(node[own] as readonly Node[]).flatMap(inside)]
  }
  return (parser.parse(xml) as Node[]).flatMap(inside)
}
