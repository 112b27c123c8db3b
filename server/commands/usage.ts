import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import type { Command } from 'commander'
import { EngineError, type ErrorFields } from '../../engine/errors.ts'
import { brief, lowerFirst, type Option, type OptionTable, plainName } from '../../engine/options.ts'
import { counted } from '../../engine/util/counted.ts'
import { writeWhole as write } from '../../engine/util/whole-file.ts'
import { withOptions } from '../client/errors.ts'

/** Wrong usage of a command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Exit code 1. Without a message, the command has printed what is wrong. */
export class Failed extends Error {
  override readonly name = 'Failed'
}

/**
 * A signal that Ctrl-C aborts, so that unfinished work can be undone. After disposal, Ctrl-C ends the program again.
 */
export function abortOnInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const aborted = new AbortController()
  const abort = () => aborted.abort(new Failed('Stopped; nothing has changed.'))
  process.once('SIGINT', abort)
  return {
    signal: aborted.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', abort)
    },
  }
}

export const inRows = (count: number) => counted(count, 'row')

/** Parses the value of an option as an integer of at least 0. @throws UsageError */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UsageError(`${option}: ${JSON.stringify(text)} is not a whole number.`)
  }
  return value
}

/**
 * Parses the value of an option that must be one of the words. @throws UsageError
 * @param option its name, for the message
 */
export function oneOf<Word extends string>(option: string, values: readonly Word[], text: string): Word {
  const word = values.find((one) => one === text)
  if (word !== undefined) return word
  // Quotes around a comma, which would look like those between the words.
  const list = values.map((one) => (/^\W$/.test(one) ? JSON.stringify(one) : one)).join(', ')
  throw new UsageError(`${option}: ${JSON.stringify(text)} is not one of ${list}.`)
}

/** What stands for the value of an option in the help. */
const PLACEHOLDERS: Readonly<Record<Option['kind'], string>> = {
  text: 'text',
  count: 'number',
  flag: '',
  character: 'character|tab',
  texts: 'texts',
  columns: 'columns',
  order: 'keys',
  aliases: '',
}

const LONGEST_PLACEHOLDER = 20

const flagOf = (name: string, option: Option) => `--${plainName(name, option)}`

/** Gives a command the options of a table. Aliases have names of their own, which a command can't declare. */
export function addOptions(command: Command, table: OptionTable): void {
  for (const [name, option] of Object.entries(table)) {
    const { kind, values } = option
    if (kind === 'aliases') continue
    const flag = flagOf(name, option)
    const listed = values?.join('|') ?? PLACEHOLDERS[kind]
    // A longer one would leave no room for what is said about the options.
    const isLong = listed.length > LONGEST_PLACEHOLDER
    const value = kind === 'flag' ? '' : ` <${isLong ? plainName(name, option) : listed}>`
    const said = lowerFirst(brief(name, table, flagOf))
      .replaceAll('`', '')
      .replace(/\.$/, '')
    const about = isLong ? `${said} (${values!.join(', ')})` : said
    if (kind === 'count') command.option(flag + value, about, (text) => wholeNumber(flag, text))
    else command.option(flag + value, about, (text) => (values ? oneOf(flag, values, text) : text))
  }
}

/** Options of a query string as a command has them. */
export function flags(query: string): string {
  return [...new URLSearchParams(query)].map(([name, value]) => flag(name, value)).join(' ')
}

function flag(name: string, value: string): string {
  if (name === 'mode') return `--${value}`
  const plain = name.replace('$', '')
  // What is true or false has no value.
  return value === '' || value === 'true' ? `--${plain}` : `--${plain} ${shellWord(value)}`
}

export function shellWord(text: string): string {
  return /^[\w.,/:%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The message of an error with options as a command has them. */
export function inFlags(error: Error & { readonly details?: ErrorFields | undefined }): string {
  return error instanceof EngineError
    ? error.inWords(flags).message
    : withFlags(error.message, error.details?.hints)
}

/** A message with options as a command has them in place of those of HTTP. */
export function withFlags(message: string, hints: readonly string[] | undefined): string {
  return withOptions(message, hints, flag)
}

/** The text of a file; `-` is standard input. @throws UsageError if it can't be read */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new UsageError(`There is no file ${file}.`)
    throw new UsageError(`${file} can't be read: ${fileProblem(error as NodeJS.ErrnoException)}.`)
  }
}

/** Writes a file, which appears under its name only when it is whole. Gives its size. @throws UsageError if it can't be made */
export async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  try {
    return await write(path, chunks)
  } catch (error) {
    const { syscall, path: opened } = error as NodeJS.ErrnoException
    // Rows that can't be read also fail to open, but not under this name.
    if (syscall !== 'open' || !opened?.startsWith(`${path}.`)) throw error
    throw new UsageError(`${path} can't be written: ${fileProblem(error as NodeJS.ErrnoException)}.`)
  }
}

/** What is wrong with a path, where the system's own words don't say it. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'it is a file, not a folder',
  EISDIR: 'it is a folder',
}

/** Describes a system error without the path and system call that Node's message contains. */
export function fileProblem({ code = '', errno, message }: NodeJS.ErrnoException): string {
  return PROBLEMS[code] ?? (errno === undefined ? message : getSystemErrorMessage(errno))
}
