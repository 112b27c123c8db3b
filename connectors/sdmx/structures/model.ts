import type { ItemReference, Reference } from './references.ts'

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
