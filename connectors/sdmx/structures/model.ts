import type { Reference } from '../ids.ts'

/** A reference to an item (a category, a concept) inside a scheme; `item` is dotted where items nest. */
export interface ItemReference extends Reference {
  readonly item: string
}

const URN = /^urn:sdmx:[\w.]+?\.(\w+)=([^:()]+):([^:()]+)\(([^()]*)\)(?:\.(.+))?$/

/**
 * Reads `urn:sdmx:org.sdmx.infomodel.codelist.Codelist=IMF:CL_FREQ(1.0+.0)`, or one followed by an item. `class` is the
 * last part of the package (`Codelist`); undefined for any other text.
 */
export function parseUrn(text: unknown): (ItemReference & { readonly class: string }) | undefined {
  const match = typeof text === 'string' ? URN.exec(text.trim()) : null
  if (!match) return undefined
  return { class: match[1]!, agency: match[2]!, id: match[3]!, version: match[4]!, item: match[5] ?? '' }
}

/**
 * The structure that a reference means. A reference may leave the version open (`''`, `latest`, `3.0+.0`), and answers
 * contain only one version of each structure. So the exact version is preferred, else any other version with the same
 * agency and id.
 */
export function resolve<T extends Reference>(
  all: readonly T[],
  reference: Reference | undefined,
): T | undefined {
  if (!reference) return undefined
  const same = all.filter((one) => one.id === reference.id && sameAgency(one.agency, reference.agency))
  return same.find((one) => one.version === reference.version) ?? same.at(-1)
}

/** Whether the agencies match; a reference without agency means any. */
function sameAgency(one: string, other: string): boolean {
  return one === other || one === '' || other === ''
}

export interface Dataflow extends Reference {
  readonly name: string
  readonly description: string
  /** The data structure that its keys follow; undefined in stubs. */
  readonly structure: Reference | undefined
}

/** An item of a codelist or of a concept scheme. */
export interface Item {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface Codelist extends Reference {
  readonly name: string
  readonly codes: readonly Item[]
}

/** A concept may have the codelist for all dimensions that use it (the IMF keeps all its codelists there). */
export interface Concept extends Item {
  readonly codelist: Reference | undefined
}

export interface ConceptScheme extends Reference {
  readonly concepts: readonly Concept[]
}

export interface Component {
  readonly id: string
  readonly concept: ItemReference | undefined
  readonly codelist: Reference | undefined
}

export interface DataStructure extends Reference {
  /** In the order of the series key; without the time dimension. */
  readonly dimensions: readonly Component[]
  readonly attributes: readonly Component[]
}

export interface Category extends Item {
  readonly categories: readonly Category[]
}

export interface CategoryScheme extends Reference {
  readonly name: string
  readonly description: string
  readonly categories: readonly Category[]
}

/** Puts a dataflow into a category; `category.item` is the dotted path down from the scheme. */
export interface Categorisation {
  readonly flow: Reference
  readonly category: ItemReference
}

/** The codes that have data, by dimension. */
export interface Constraint {
  readonly flow: Reference | undefined
  readonly codes: ReadonlyMap<string, readonly string[]>
}

/** Everything that one structure message holds. */
export interface Structures {
  readonly dataflows: readonly Dataflow[]
  readonly dataStructures: readonly DataStructure[]
  readonly codelists: readonly Codelist[]
  readonly conceptSchemes: readonly ConceptScheme[]
  readonly categorySchemes: readonly CategoryScheme[]
  readonly categorisations: readonly Categorisation[]
  readonly constraints: readonly Constraint[]
}
