import { createRequire } from 'node:module'
import type { X2jOptions, XMLParser, XMLValidator } from 'fast-xml-parser'
import { notUnderstood } from '../../failures.ts'

/**
 * An element as the parser gives it: children under their local name (one, or a list where there are several),
 * attributes under `@name`, text under `#text` and CDATA under `#cdata`. Read it with the functions below.
 */
export interface XmlElement {
  readonly [name: string]: unknown
}

const OPTIONS = {
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#text',
  cdataPropName: '#cdata',
  alwaysCreateTextNode: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  parseAttributeValue: false,
  jPath: false,
  // The parser counts character references among the entities of HTML.
  htmlEntities: true,
  transformTagName: (name) => name.slice(name.indexOf(':') + 1),
  // `xsi:type` and `ss:setID` keep their prefix; without it they would hide components with that id in
  // structure-specific data.
  transformAttributeName: (name) => (name === '@xml:lang' ? '@lang' : name),
} satisfies X2jOptions

let tools: { readonly parser: XMLParser; readonly validator: typeof XMLValidator } | undefined

/** The parser, loaded with the first XML: a server starts without it. */
function xmlTools() {
  if (!tools) {
    const library = createRequire(import.meta.url)('fast-xml-parser') as typeof import('fast-xml-parser')
    tools = { parser: new library.XMLParser(OPTIONS), validator: library.XMLValidator }
  }
  return tools
}

/**
 * The root of an SDMX-ML message, with its local name. Prefixes are dropped, since providers choose them freely. Throws
 * `not_understood` for anything else: HTML, a body that was cut off, a document type definition (SDMX-ML has none, and
 * refusing it rules out external entities and entity bombs).
 */
export function parseXml(text: string): { readonly name: string; readonly root: XmlElement } {
  const prolog = text.slice(0, Math.max(0, text.search(/<[a-z_]/i)))
  if (/<!DOCTYPE/i.test(prolog)) throw notUnderstood('a document with a DOCTYPE instead of SDMX-ML')
  const valid = xmlTools().validator.validate(text)
  if (valid !== true) throw notUnderstood(`XML that is cut off or malformed in line ${valid.err.line}`)
  let document: XmlElement
  try {
    document = xmlTools().parser.parse(text) as XmlElement
  } catch (cause) {
    throw notUnderstood('XML that is malformed', cause)
  }
  const name = Object.keys(document).find((key) => !key.startsWith('#'))
  const root = name === undefined ? undefined : children(document, name)[0]
  if (name === undefined || root === undefined) throw notUnderstood('XML without a root element')
  return { name, root }
}

/** The children with that local name, in document order; an empty list if there are none. */
export function children(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  const found = element === undefined || !Object.hasOwn(element, name) ? undefined : element[name]
  if (Array.isArray(found)) return found as XmlElement[]
  return typeof found === 'object' && found !== null ? [found as XmlElement] : []
}

/** The first child at the end of a path of local names. */
export function child(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  return path.reduce<XmlElement | undefined>((at, name) => children(at, name)[0], element)
}

/** An attribute without prefix; undefined where it is absent or empty. */
export function attribute(element: XmlElement | undefined, name: string): string | undefined {
  const value = element?.[`@${name}`]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** All attributes without prefix: in structure-specific data, the components of the element. */
export function attributes(element: XmlElement): readonly (readonly [name: string, value: string])[] {
  const found: [string, string][] = []
  for (const [name, value] of Object.entries(element)) {
    if (name.startsWith('@') && !name.includes(':') && name !== '@xmlns')
      found.push([name.slice(1), String(value)])
  }
  return found
}

/** The text of an element, trimmed; `''` for none. */
export function textOf(element: XmlElement | undefined): string {
  const cdata = children(element, '#cdata').map((part) => part['#text'])
  const own = element?.['#text']
  return [typeof own === 'string' ? own : '', ...cdata].join('').trim()
}

/** A `Name`, `Description` or `Text`, in English where there are several languages, else the first. */
export function localised(element: XmlElement | undefined, name: string): string {
  const found = children(element, name)
  return textOf(found.find((one) => attribute(one, 'lang')?.toLowerCase().startsWith('en')) ?? found[0])
}
