import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../../engine/index.ts'
import { attachment } from '../http/headers.ts'
import { datasetFor, pathId } from '../routes/routes.ts'
import type { Services } from '../services.ts'
import { escapeXml } from './csdl.ts'
import { repositoryFeed } from './sets.ts'

/** A feed for an office program to open. */
interface FeedAddress {
  /** The name that the user gave the dataset or the repository. */
  readonly title: string
  /** Absolute address of the service root. */
  readonly root: string
  /** The entity set to load; without one, the program lists all sets of the service. */
  readonly set?: string
}

/**
 * A file that opens Power BI Desktop at a feed
 * (learn.microsoft.com/power-bi/connect-data/desktop-data-sources, "Using PBIDS files to get data").
 */
function pbids({ root, set }: FeedAddress): string {
  const url = set === undefined ? root : root + encodeURIComponent(set)
  const connection = {
    details: { protocol: 'odata', address: { url } },
    options: {},
    mode: 'Import',
  }
  return `${JSON.stringify({ version: '0.1', connections: [connection] }, undefined, 2)}\n`
}

/**
 * An Office Data Connection file, which Excel opens as a query. It is an HTML page whose XML contains the query in M,
 * the language of Power Query, in the form in which Excel's "Export Connection File" writes it.
 */
function odc({ title, root, set }: FeedAddress): string {
  const name = queryName(title)
  const source = `OData.Feed(${mText(root)}, null, [Implementation = "2.0"])`
  const formula =
    set === undefined
      ? `let Source = ${source} in Source`
      : `let Source = ${source}, Rows = Source{[Name = ${mText(set)}, Signature = "table"]}[Data] in Rows`
  const mashup =
    '<Mashup xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
    'xmlns="http://schemas.microsoft.com/DataMashup"><Client>EXCEL</Client><Version>2.61.5192.1301</Version>' +
    '<MinVersion>2.21.0.0</MinVersion><Culture>en-US</Culture><SafeCombine>true</SafeCombine>' +
    `<Items><Query Name="${escapeXml(name)}"><Formula>${escapeXml(formula)}</Formula>` +
    '<IsParameterQuery xsi:nil="true" /><IsDirectQuery xsi:nil="true" /></Query></Items></Mashup>'
  const connection = `Provider=Microsoft.Mashup.OleDb.1;Data Source=$Workbook$;Location=${name};Extended Properties=""`
  return `<html xmlns:o="urn:schemas-microsoft-com:office:office" xmlns="http://www.w3.org/TR/REC-html40">
<head>
<meta http-equiv=Content-Type content="text/x-ms-odc; charset=utf-8">
<meta name=ProgId content=ODC.Database>
<meta name=SourceType content=OLEDB>
<title>${escapeXml(title)}</title>
<xml id=docprops><o:DocumentProperties xmlns:o="urn:schemas-microsoft-com:office:office"><o:Name>${escapeXml(title)}</o:Name></o:DocumentProperties></xml>
<xml id=msodc><odc:OfficeDataConnection xmlns:odc="urn:schemas-microsoft-com:office:odc" xmlns="http://www.w3.org/TR/REC-html40">
<odc:PowerQueryConnection odc:Type="OLEDB">
<odc:ConnectionString>${escapeXml(connection)}</odc:ConnectionString>
<odc:CommandType>SQL</odc:CommandType>
<odc:CommandText>${escapeXml(`SELECT * FROM [${name}]`)}</odc:CommandText>
</odc:PowerQueryConnection>
<odc:PowerQueryMashupData>${escapeXml(mashup)}</odc:PowerQueryMashupData>
</odc:OfficeDataConnection></xml>
</head>
</html>
`
}

/** Replaces the characters that would end the name in a connection string or between brackets. */
function queryName(title: string): string {
  return title
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f;=[\]"']/g, '_')
    .slice(0, 80)
}

/**
 * A string literal in M (Power Query M language specification, 12.1.3): quotes are doubled, and `#(` begins an escape.
 */
function mText(text: string): string {
  return `"${text.replaceAll('#(', '#(#)(').replaceAll('"', '""')}"`
}

const FILES = {
  pbids: { type: 'application/json;charset=utf-8', write: pbids },
  odc: { type: 'text/x-ms-odc;charset=utf-8', write: odc },
} as const

/** Small files that open the feed of a dataset or a repository in Power BI or Excel. They contain no API key. */
export function connectionFileRoutes(app: FastifyInstance, services: Services): void {
  const rootOf = (request: FastifyRequest, repositoryId: number) =>
    `${request.publicUrl}${app.prefix}/repositories/${repositoryId}/odata/`

  for (const [extension, { type, write }] of Object.entries(FILES)) {
    const send = (reply: FastifyReply, feed: FeedAddress) =>
      reply
        .headers({ 'content-type': type, 'content-disposition': attachment(feed.title, extension) })
        .send(write(feed))
    app.get(`/repositories/:id/odata.${extension}`, { schema: { hide: true } }, async (request, reply) => {
      const id = pathId(request, 'repository')
      await services.access.require(id, request.account, 'Read')
      const { name } = await services.engine.repository(id)
      return send(reply, { title: name, root: rootOf(request, id) })
    })
    app.get(`/datasets/:id/odata.${extension}`, { schema: { hide: true } }, async (request, reply) => {
      const { record } = await datasetFor(request, services, 'Read')
      const feed = await repositoryFeed(services, record.repositoryId, request.account)
      const set = feed.sets.find(({ datasetId }) => datasetId === record.id)
      if (!set) throw new EngineError('not_found', `There is no dataset ${record.id}.`)
      const root = rootOf(request, record.repositoryId)
      return send(reply, { title: record.name, root, set: set.name })
    })
  }
}
