import type { Command } from 'commander'

/** The page on the command, made from what \`--help\` prints. */
export function commandPage(program: Command): string {
  return [
    '# Command',
    'Run the command as `npx parquetry`, in a checkout or where the package is installed. It exits with 0 on success, 1 on failure and 2 on misuse, and prints errors to stderr.',
    '## Options of all commands',
    optionsOf(program),
    ...program.commands.flatMap((command) => sectionsOf(command, 'parquetry')),
    '',
  ].join('\n\n')
}

function sectionsOf(command: Command, parent: string): readonly string[] {
  if (command.name() === 'help') return []
  const name = `${parent} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap((each) => sectionsOf(each, name))
  const usage = command.usage().replace(/^\[options\] ?/, '')
  const options = optionsOf(command)
  return [
    `## \`${`${name} ${usage}`.trim()}\``,
    `${capital(command.description())}.`,
    ...(options ? [options] : []),
  ]
}

function optionsOf(command: Command): string {
  const options = command.options.filter(({ long }) => long !== '--help')
  if (options.length === 0) return ''
  const rows = options.map(
    ({ flags, description }) => `| \`${flags.replaceAll('|', '\\|')}\` | ${escaped(description)} |`,
  )
  return ['| option | |', '|---|---|', ...rows].join('\n')
}

const escaped = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
