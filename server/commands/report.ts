import { CommanderError } from 'commander'
import { ConnectorError } from '../../connectors/errors.ts'
import { httpWords } from '../../engine/errors.ts'
import { EngineError, faultsOf } from '../../engine/index.ts'
import { MOST_FAULTS } from '../../engine/ingest/text/errors.ts'
import { ParquetryError } from '../client/index.ts'
import { ConfigError } from '../config/read.ts'
import { ServerError } from '../http/errors.ts'
import { Failed, fileProblem, inFlags, UsageError, withFlags } from './usage.ts'

/**
 * Says what went wrong, and gives the exit code for it.
 * @param file which of several files it is about, of which others may be stored
 */
export function reportError(error: unknown, file?: string): number {
  const beginning = file === undefined ? 'parquetry: ' : `${file}: `
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Failed && error.message === '') return 1
  const { syscall, path, code = '' } = error as NodeJS.ErrnoException
  if (syscall === 'listen' || syscall === 'getaddrinfo') {
    console.error(`${beginning}${listenProblem(error as ListenError)}`)
  } else if (syscall !== undefined) {
    const problem = fileProblem(error as NodeJS.ErrnoException)
    console.error(`${beginning}${path === undefined ? problem : `${path}: ${problem}`}`)
  } else {
    const isKnown = KNOWN.some((kind) => error instanceof kind)
    console.error(isKnown ? `${beginning}${inFlags(error as Error)}` : error)
  }
  const faults =
    error instanceof ParquetryError
      ? error.errors
      : error instanceof EngineError
        ? faultsOf(error.inWords(httpWords))
        : []
  // The first is the message.
  for (const fault of faults.slice(1)) console.error(`  ${withFlags(fault.error, fault.hints)}`)
  if (code === 'invalid_upload' && file === undefined)
    console.error(`Nothing was stored.${faults.length < MOST_FAULTS ? '' : ' There may be more errors.'}`)
  return error instanceof UsageError || error instanceof ConfigError ? 2 : 1
}

/** The errors that are raised on purpose, with a message for people. */
const KNOWN = [UsageError, ConfigError, EngineError, ServerError, ConnectorError, Failed, ParquetryError]

interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly hostname?: string
  readonly port?: number
}

/** Says why the server can't listen, and what to change. */
function listenProblem({ code, address, hostname, port }: ListenError): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Another program listens on port ${port} of ${address}: choose another port with --port.`
    case 'EACCES':
      return `You have no permission to listen on port ${port}: choose one above 1023 with --port.`
    default:
      return `The server can't listen on ${address ?? hostname}: give an address of this machine with --host (${code}).`
  }
}
