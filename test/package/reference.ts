import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ONE_SERIES, SERIES_OPTIONS } from '../../connectors/transform/series-options.ts'
import {
  CHANGE,
  DIALECT,
  describe,
  type Option,
  type OptionTable,
  QUERY,
  READING,
  UPLOADING,
  VERSION,
  WRITING,
} from '../../engine/options.ts'

/** Something that a module exports, as its declaration file has it. */
interface Declaration {
  readonly name: string
  readonly kind: 'function' | 'class' | 'const' | 'interface' | 'type'
  /** The text of its comment, with tags. */
  readonly doc: string
  /** As it is declared, without the comment that is `doc`. */
  readonly code: string
}

/** An entry point of the package: what one imports, and its declaration file. */
export interface EntryPoint {
  readonly name: string
  readonly file: string
}

/** A page that describes what entry points export, from the comments of the source. */
export function referencePage(entries: readonly EntryPoint[]): string {
  const shown = new Map<string, string>()
  const sections = entries.map(({ name, file }) => {
    const all = exportsOf(file).sort(byKindAndName)
    const parts = all.map((one) => {
      const seen = shown.get(one.code)
      if (seen !== undefined) return `### ${one.name}\n\nAs in [\`${seen}\`](#${anchor(seen)}).`
      shown.set(one.code, name)
      return section(one)
    })
    return [`## ${name}`, ...parts].join('\n\n')
  })
  return [HEADER, ...sections].join('\n\n') + '\n'
}

const HEADER = `# Reference

<!-- Written from the comments of the source. After a change: npx vitest run --config test/vitest.config.ts test/package/reference -u -->

What each entry point exports. The [guide](../library.md) explains how to use it.`

function section({ name, doc, code }: Declaration): string {
  return [`### ${name}`, prose(doc), '```ts', code, '```']
    .filter(Boolean)
    .join('\n\n')
    .replace('```ts\n\n', '```ts\n')
    .replace(/\n\n```$/, '\n```')
}

/** The comment as Markdown: what is thrown and what parameters mean become paragraphs of their own. */
function prose(doc: string): string {
  return doc
    .replace(/\s*@throws\s+/g, '\n\n*Throws* ')
    .replace(/\s*@param\s+(\w+)\s+/g, '\n\n`$1`: ')
    .trim()
}

function anchor(name: string): string {
  return name.replaceAll('/', '')
}

const KINDS = ['function', 'class', 'const', 'interface', 'type']

function byKindAndName(a: Declaration, b: Declaration): number {
  return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || (a.name < b.name ? -1 : 1)
}

/** Everything that a declaration file exports, its own and what it passes on. */
function exportsOf(file: string): Declaration[] {
  const text = readFileSync(file, 'utf8')
  const passedOn = [...text.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '(\.[^']+)';/gm)].flatMap(
    ([, names, from]) => {
      const all = exportsOf(join(dirname(file), from!.replace(/\.[jt]s$/, '.d.ts')))
      if (names === '*') return all
      return names!
        .slice(1, -1)
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter(Boolean)
        .map((name) => {
          const found = all.find((one) => one.name === name)
          if (!found) throw new Error(`${file}: ${name} is not found in ${from}`)
          return found
        })
    },
  )
  return [...passedOn, ...declarations(text)]
}

const DECLARATION =
  /^(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:declare )?(?:abstract )?(function|class|const|interface|type) (\w+)/gm

/** The exported declarations of a file. Compilers print them so that each begins and ends in the first column. */
function declarations(text: string): Declaration[] {
  return [...text.matchAll(DECLARATION)].map((match) => {
    const [whole, comment = '', kind, name] = match
    const start = match.index + whole.indexOf('export ', comment.length)
    const end = (kind === 'class' || kind === 'interface' ? /^}$|^export .*\{\s*}$/gm : /;$/gm) as RegExp
    end.lastIndex = start
    let found = end.exec(text)
    // A semicolon inside of braces belongs to a member.
    while (found && /^\s/.test(text.slice(text.lastIndexOf('\n', found.index) + 1))) found = end.exec(text)
    if (!found) throw new Error(`the declaration of ${name} has no end`)
    return {
      name: name!,
      kind: kind as Declaration['kind'],
      doc: comment.replace(/^\s*\* ?/gm, '').trim(),
      code: withOptions(text.slice(start, found.index + found[0].length))
        .replace(/^export (declare )?/, '')
        .replace(/^ +#private;\n/m, '')
        // What is made by a function of ours.
        .replace(/^ +\/\*\* Use `.*\n +constructor\(.*\n/m, '')
        .replace(/^( +)/gm, (spaces) => spaces.slice(spaces.length / 2)),
    }
  })
}

/** A type that is made from a table of options, with its rows written out. */
function withOptions(code: string): string {
  return code.replace(/ extends OptionsOf<typeof (\w+)> \{\s*\}$/, (_, name: string) => {
    const table: OptionTable = TABLES[name as keyof typeof TABLES]
    const rows = Object.entries(table).map(([option, row]) => {
      const type = row.values?.map((one) => `'${one}'`).join(' | ') ?? VALUES[row.kind]
      return `    /** ${describe(option, table, (name) => name)} */\n    readonly ${option}?: ${type};\n`
    })
    return ` {\n${rows.join('')}}`
  })
}

const TABLES = { QUERY, VERSION, CHANGE, DIALECT, WRITING, READING, UPLOADING, SERIES_OPTIONS, ONE_SERIES }

const VALUES: Readonly<Record<Option['kind'], string>> = {
  text: 'string',
  count: 'number',
  flag: 'boolean',
  character: 'string',
  texts: 'readonly string[]',
  columns: 'string | readonly string[]',
  order: 'string | readonly OrderKey[]',
  aliases: 'Readonly<Record<string, string>>',
}
