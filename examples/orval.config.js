// For orval, whose code for bodies that may be JSON or a file does not compile: files, of any type that `headers` names.
const file = { contentType: { include: ['text/csv'] } }

export default {
  parquetry: {
    input: { target: './openapi.json' },
    output: {
      target: './api.ts',
      client: 'fetch',
      override: { operations: { replaceData: file, appendData: file, previewUpload: file } },
    },
  },
}
