/** What names a structure: its agency, its id and its version (`''`: the latest). */
export interface Reference {
  readonly agency: string
  readonly id: string
  readonly version: string
}

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
