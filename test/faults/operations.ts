/**
 * What the fault runs do to a data directory, in order, and what each step makes of the rows. A step happens whole or
 * not at all, so the model of a dataset is the list of its blocks: which step wrote them, and how many rows they are.
 */
export interface Block {
  readonly step: number
  readonly rows: number
}

/** Datasets by id: name, and blocks in the order of their rows. */
export type State = Readonly<Record<number, { readonly name: string; readonly blocks: readonly Block[] }>>

export type Step =
  | { readonly kind: 'append'; readonly dataset: number; readonly rows: number }
  | { readonly kind: 'replace'; readonly dataset: number; readonly rows: number }
  /** Appends made at once, of so many rows each; each is a step of its own for the model. */
  | { readonly kind: 'appends'; readonly dataset: number; readonly writes: number; readonly rows: number }
  | { readonly kind: 'create'; readonly dataset: number; readonly name: string }
  | { readonly kind: 'rename'; readonly dataset: number; readonly name: string }
  | { readonly kind: 'widen'; readonly dataset: number }
  | { readonly kind: 'delete'; readonly dataset: number }
  /** Removes the rows of an earlier step. */
  | { readonly kind: 'remove'; readonly dataset: number; readonly of: number }
  /** Writes rows with the keys of an earlier step, which take the place of its rows. */
  | { readonly kind: 'upsert'; readonly dataset: number; readonly of: number; readonly rows: number }
  | { readonly kind: 'copy'; readonly dataset: number; readonly from: number; readonly name: string }
  | { readonly kind: 'backup' }
  | { readonly kind: 'verify' }
  | { readonly kind: 'settle' }

/** What the fixture holds: `grown` is one append short of a merge. */
export const BEGINNING: State = {
  1: { name: 'grown', blocks: [1, 2, 3, 4, 5, 6, 7].map((step) => ({ step, rows: 200 })) },
  2: { name: 'replaced', blocks: [{ step: 8, rows: 200 }] },
  3: { name: 'dropped', blocks: [{ step: 9, rows: 200 }] },
}

/** Numbered from `FIRST_STEP`: smaller numbers are the fixture's. */
export const STEPS: readonly Step[] = [
  { kind: 'replace', dataset: 2, rows: 300 },
  { kind: 'append', dataset: 1, rows: 50 },
  { kind: 'settle' },
  { kind: 'append', dataset: 2, rows: 1 },
  { kind: 'widen', dataset: 2 },
  { kind: 'create', dataset: 4, name: 'made' },
  { kind: 'replace', dataset: 4, rows: 3_000 },
  { kind: 'backup' },
  { kind: 'delete', dataset: 3 },
  { kind: 'rename', dataset: 1, name: 'renamed' },
  { kind: 'append', dataset: 4, rows: 20 },
  { kind: 'verify' },
  { kind: 'upsert', dataset: 4, of: 20, rows: 20 },
  { kind: 'copy', dataset: 5, from: 4, name: 'copied' },
  { kind: 'remove', dataset: 4, of: 16 },
  { kind: 'upsert', dataset: 5, of: 16, rows: 3_000 },
  { kind: 'replace', dataset: 1, rows: 40 },
  { kind: 'appends', dataset: 1, writes: 5, rows: 3 },
  { kind: 'appends', dataset: 5, writes: 3, rows: 2 },
  { kind: 'settle' },
  { kind: 'backup' },
]
export const FIRST_STEP = 10

const MOST_WRITES = 100
/** What the rows of one of the appends of a step name as theirs. */
export const stepOfWrite = (number: number, write: number) => number * MOST_WRITES + write

/** The state after a step that was made, or one write of it. */
export function after(state: State, step: Step, number: number, write = 0): State {
  if (!('dataset' in step) || step.kind === 'widen') return state
  if (step.kind === 'create') return { ...state, [step.dataset]: { name: step.name, blocks: [] } }
  if (step.kind === 'copy') {
    const from = state[step.from]
    return from ? { ...state, [step.dataset]: { name: step.name, blocks: from.blocks } } : state
  }
  const { [step.dataset]: dataset, ...others } = state
  // A dataset that could not be made takes no rows.
  if (!dataset || step.kind === 'delete') return others
  if (step.kind === 'rename') return { ...state, [step.dataset]: { ...dataset, name: step.name } }
  if (step.kind === 'remove' || step.kind === 'upsert') {
    const rest = dataset.blocks.filter((block) => block.step !== step.of)
    const blocks = step.kind === 'upsert' ? [...rest, { step: step.of, rows: step.rows }] : rest
    return { ...state, [step.dataset]: { ...dataset, blocks } }
  }
  if (step.kind === 'appends') {
    // They are told of in any order, but come in that in which they were begun.
    const own = stepOfWrite(number, write)
    const next = dataset.blocks.findIndex(
      (block) => block.step > own && block.step < stepOfWrite(number + 1, 0),
    )
    const blocks = dataset.blocks.toSpliced(next < 0 ? dataset.blocks.length : next, 0, {
      step: own,
      rows: step.rows,
    })
    return { ...state, [step.dataset]: { ...dataset, blocks } }
  }
  const written = { step: number, rows: step.rows }
  const blocks = step.kind === 'replace' ? [written] : [...dataset.blocks, written]
  return { ...state, [step.dataset]: { ...dataset, blocks } }
}

/**
 * Rows of a step as csv: each names its step and its place, so that blocks can be told apart and counted.
 * @param by who writes them, if they are to take the place of that step's rows
 */
export function csv(step: number, rows: number, by = step): string {
  const lines = Array.from({ length: rows }, (_, n) => `${step},${n},row ${n} of ${by}`)
  return `op,n,text\n${lines.join('\n')}\n`
}
