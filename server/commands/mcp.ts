import type { Command } from 'commander'
import { UsageError } from './usage.ts'

const HERE = 'http://127.0.0.1:8080'

/**
 * `parquetry mcp`: the tools for agents over standard input and output, which ask a running server with the account's
 * own key. Everything else that is printed goes to standard error, because standard output belongs to the protocol.
 */
export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description(
      `serve the Model Context Protocol over stdio, for agents; asks --server (${HERE} where none is given)`,
    )
    .action(async () => {
      const { server = process.env['PARQUETRY_SERVER'] ?? HERE, key = process.env['PARQUETRY_KEY'] } =
        program.opts<{ server?: string; key?: string }>()
      if (!key) throw new UsageError('This needs an API key: set PARQUETRY_KEY, or give --key.')
      // Loaded here alone: no other command needs the protocol.
      const [{ StdioServerTransport }, { mcpServer }, { Client }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/stdio.js'),
        import('../mcp/server.ts'),
        import('../client/index.ts'),
      ])
      const client = new Client({ url: server, key })
      // A wrong key or address is said at once, not at the first question.
      await client.account.get()
      const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve))
      const served = mcpServer(client)
      await served.connect(new StdioServerTransport())
      await ended
      await served.close()
    })
}
