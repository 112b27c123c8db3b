import type { Category, UpstreamAnswer, UpstreamRequest } from '../../connector.ts'
import { notUnderstood } from '../../failures.ts'
import { refuseFailure } from '../refusals.ts'
import { attempt, type Branch } from '../session.ts'
import { parseCsv } from '../text/text.ts'
import { allFlows } from './branches.ts'

type Entry = ReturnType<typeof readContents>[number]

/**
 * Eurostat's own table of contents: folders as `toc/{code}`, with the datasets in them. If it can't be had, all
 * dataflows.
 */
export function tableOfContents(request: UpstreamRequest): Branch {
  return async (path, session) => {
    const entries = await attempt(session.cached(request, readContents))
    if (!entries) return allFlows(path, session)
    if (path === '') return childrenOf(entries, -1)
    const code = path.startsWith('toc/') ? path.slice('toc/'.length) : undefined
    const folder = entries.findIndex((entry) => entry.isFolder && entry.code === code)
    return folder < 0 ? undefined : childrenOf(entries, folder)
  }
}

/** Reads the tab-separated text, in which a title is indented by four blanks for each level above it. */
function readContents(answer: UpstreamAnswer) {
  refuseFailure(answer)
  const { columns, rows } = parseCsv(answer.text)
  const at = (name: string) => columns.findIndex((column) => column.toLowerCase() === name)
  const [title, code, type] = [at('title'), at('code'), at('type')]
  if (title < 0 || code < 0 || type < 0) throw notUnderstood('no table of contents')
  const [updated, start, end] = [at('last update of data'), at('data start'), at('data end')]
  return rows.map((row) => {
    const cell = (index: number) => row[index]?.trim() ?? ''
    const period = cell(start) === '' ? '' : `${cell(start)} to ${cell(end)}`
    const update = cell(updated) === '' ? '' : `updated ${cell(updated)}`
    const indentation = row[title]!.length - row[title]!.trimStart().length
    return {
      depth: Math.floor(indentation / 4),
      title: cell(title),
      code: cell(code),
      isFolder: cell(type).toLowerCase() === 'folder',
      description: [period, update].filter((part) => part !== '').join(', '),
    }
  })
}

/** The entries one level below the one at index `parent`; the entries of the top level for -1. */
function childrenOf(entries: readonly Entry[], parent: number): readonly Category[] {
  const depth = parent < 0 ? -1 : entries[parent]!.depth
  const found: Category[] = []
  for (const entry of entries.slice(parent + 1)) {
    if (entry.depth <= depth) break
    if (entry.depth > depth + 1) continue
    const { title: name, description, isFolder, code } = entry
    // The table of contents writes some codes in lower case, but dataflows always have upper case.
    const path = isFolder ? `toc/${code}` : `flow/${code.toUpperCase()}`
    found.push({ path, name, description, series: !isFolder })
  }
  return found
}
