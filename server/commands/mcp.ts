import type { Command } from 'commander'
import type { Target } from './workplace.ts'

const HERE = 'http://127.0.0.1:8080'

/**
 * `parquetry mcp`: serves the agents' tools over standard input and output. They call a running server with the
 * account's own key. Standard output carries the protocol, so everything else is printed to standard error.
 */
export function addMcpCommand(program: Command, target: Target): void {
  program
    .command('mcp')
    .description(`serve the Model Context Protocol over stdio, for agents; uses --server (default: ${HERE})`)
    .action(async () => {
      const server = target.server(HERE)!
      // Loaded only when needed: no other command uses the protocol.
      const [{ StdioServerTransport }, { mcpServer }, { Client }] = await Promise.all([
        import('@modelcontextprotocol/sdk/server/stdio.js'),
        import('../mcp/server.ts'),
        import('../client/index.ts'),
      ])
      const client = new Client(server)
      // Makes a wrong key or address fail now rather than at the first tool call.
      await client.account.get()
      const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve))
      const served = mcpServer(client)
      await served.connect(new StdioServerTransport())
      await ended
      await served.close()
    })
}
