/** The records of the service, as its client knows them. */
export type * from '../../../client/records.ts'
