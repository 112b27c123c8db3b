import { inEnglish, type Json, listOf, record, textOf as textIn } from '../text/text.ts'
import { attribute, child, children, localised, textOf, type XmlElement } from '../text/xml.ts'
import { type ItemReference, parseUrn } from './references.ts'

/**
 * A part of a structure message in SDMX-ML or SDMX-JSON, under the names of SDMX-ML. Those of SDMX-JSON are the same, but
 * begin with a small letter, and lists have the plural (`dataflows` for `Dataflow`).
 */
export interface Node {
  children(name: string): readonly Node[]
  /** The first child at the end of a path. */
  child(...path: readonly string[]): Node | undefined
  /** undefined if it is absent or empty. */
  attribute(name: string): string | undefined
  localised(name: 'Name' | 'Description'): string
  text(): string
  /** The target, if this is a reference. */
  reference(): (ItemReference & { readonly class: string }) | undefined
}

export class XmlNode implements Node {
  readonly #element: XmlElement

  constructor(element: XmlElement) {
    this.#element = element
  }

  children(name: string): readonly Node[] {
    return children(this.#element, name).map((element) => new XmlNode(element))
  }

  child(...path: readonly string[]): Node | undefined {
    const found = child(this.#element, ...path)
    return found && new XmlNode(found)
  }

  attribute(name: string): string | undefined {
    return attribute(this.#element, name)
  }

  localised(name: string): string {
    return localised(this.#element, name)
  }

  text(): string {
    return textOf(this.#element)
  }

  /** Written as `<Ref>` or `<URN>` in the element, or as its text. */
  reference() {
    const ref = child(this.#element, 'Ref')
    if (!ref) return parseUrn(textOf(child(this.#element, 'URN') ?? this.#element))
    const parent = attribute(ref, 'maintainableParentID')
    const id = attribute(ref, 'id') ?? ''
    return {
      class: attribute(ref, 'class') ?? '',
      agency: attribute(ref, 'agencyID') ?? '',
      id: parent ?? id,
      version: attribute(ref, parent === undefined ? 'version' : 'maintainableParentVersion') ?? '',
      item: parent === undefined ? '' : id,
    }
  }
}

const lowerFirst = (name: string) => name.charAt(0).toLowerCase() + name.slice(1)
const plural = (name: string) => `${lowerFirst(name).replace(/y$/, 'ie')}s`

export class JsonNode implements Node {
  readonly #value: Json

  constructor(value: Json) {
    this.#value = value
  }

  children(name: string): readonly Node[] {
    return listOf(record(this.#value)[plural(name)]).map((value) => new JsonNode(value))
  }

  child(...path: readonly string[]): Node | undefined {
    const found = path.reduce<Json | undefined>((value, name) => {
      const object = record(value)
      return object[lowerFirst(name)] ?? listOf(object[plural(name)])[0]
    }, this.#value)
    return found === undefined ? undefined : new JsonNode(found)
  }

  attribute(name: string): string | undefined {
    return textIn(record(this.#value)[name]) || undefined
  }

  localised(name: 'Name' | 'Description'): string {
    return inEnglish(record(this.#value), name === 'Name' ? 'name' : 'description')
  }

  text(): string {
    return textIn(record(this.#value)['value'] ?? this.#value)
  }

  reference() {
    return parseUrn(this.#value)
  }
}
