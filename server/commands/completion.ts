import type { Command } from 'commander'
import { oneOf } from './usage.ts'

/**
 * `parquetry completion SHELL`: prints a script that is generated from the commands, so that it is always up to date.
 */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion <shell>')
    .description('print a script that completes commands and options in bash, zsh or fish')
    .addHelpText(
      'after',
      `
bash: parquetry completion bash > ~/.local/share/bash-completion/completions/parquetry
zsh:  parquetry completion zsh > "\${fpath[1]}/_parquetry"
fish: parquetry completion fish > ~/.config/fish/completions/parquetry.fish`,
    )
    .action((shell: string) =>
      console.log(
        SCRIPTS[oneOf('completion', Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[], shell)](
          linesOf(program),
        ),
      ),
    )
}

/** A command, and the words that can follow it. */
interface Line {
  /** Names of the command and its parents, for example `account create`; empty for the program itself. */
  readonly path: string
  readonly completions: readonly { readonly text: string; readonly about: string }[]
}

function linesOf(program: Command): Line[] {
  const line = (command: Command, path: string): Line[] => [
    {
      path,
      completions: [
        ...command.commands.map((one) => ({ text: one.name(), about: one.description() })),
        ...[...command.options, ...(path === '' ? [] : program.options)].map((one) => ({
          text: one.long ?? one.short ?? '',
          about: one.description,
        })),
      ],
    },
    ...command.commands.flatMap((one) => line(one, `${path} ${one.name()}`.trim())),
  ]
  return line(program, '')
}

/**
 * The part that bash and zsh have in common: it collects the commands among the words that were typed, in `at`, and
 * proposes what may follow them. (zsh uses `path` for something else.)
 */
function proposals(lines: readonly Line[], typed: string): string {
  const known = lines.filter(({ path }) => path !== '')
  return `  local word at='' proposed=''
  for word in ${typed}; do
    case "$word" in -*) continue ;; esac
    case "\${at:+$at }$word" in
${known.map(({ path }) => `      '${path}') at='${path}' ;;`).join('\n')}
    esac
  done
  case "$at" in
${lines.map(({ path, completions }) => `    '${path}') proposed='${completions.map(({ text }) => text).join(' ')}' ;;`).join('\n')}
  esac`
}

function bash(lines: readonly Line[]): string {
  return `_parquetry() {
${proposals(lines, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  mapfile -t COMPREPLY < <(compgen -W "$proposed" -- "\${COMP_WORDS[COMP_CWORD]}")
  [[ \${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null
}
complete -F _parquetry parquetry`
}

/** If zsh finds the file on its function path, it runs the file as the function. If the file is sourced, it registers itself. */
function zsh(lines: readonly Line[]): string {
  return `#compdef parquetry
_parquetry() {
${proposals(lines, '"${(@)words[2,CURRENT-1]}"')}
  compadd -- \${=proposed} || _files
}
if [[ "$funcstack[1]" = _parquetry ]]; then _parquetry "$@"; else compdef _parquetry parquetry; fi`
}

function fish(lines: readonly Line[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return lines
    .flatMap(({ path, completions }) => {
      const names = path.split(' ').filter(Boolean)
      const inside = names.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
      const next = completions.filter(({ text }) => !text.startsWith('-')).map(({ text }) => text)
      const none = next.length > 0 ? `not __fish_seen_subcommand_from ${next.join(' ')}` : ''
      return completions.map(({ text, about }) => {
        const isOption = text.startsWith('--')
        const when = [inside, isOption ? '' : none].filter(Boolean).join('; and ')
        const what = isOption ? `-l ${text.slice(2)}` : `-f -a ${text}`
        return `complete -c parquetry ${when ? `-n ${quoted(when)} ` : ''}${what} -d ${quoted(about)}`
      })
    })
    .join('\n')
}

const SCRIPTS = { bash, zsh, fish }
