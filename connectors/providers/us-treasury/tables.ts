/** A table of the Fiscal Service. Its API has no catalogue of tables. */
export interface Table {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly frequency: string
  /** The fields with values, and their names. */
  readonly fields: Readonly<Record<string, string>>
  /** Columns that distinguish the rows of one date. */
  readonly by: readonly string[]
  /**
   * Set if the table changed: from then on the values of the field `from` are in the field `to`, in rows whose group
   * matches `where`.
   */
  readonly moved?: { readonly from: string; readonly to: string; readonly where: RegExp }
}

/** https://fiscaldata.treasury.gov/datasets/ */
export const tables: readonly Table[] = [
  {
    path: 'v2/accounting/od/debt_to_penny',
    name: 'Debt to the Penny',
    description: 'The public debt outstanding on each business day',
    frequency: 'daily',
    fields: {
      tot_pub_debt_out_amt: 'Total Public Debt Outstanding',
      debt_held_public_amt: 'Debt Held by the Public',
      intragov_hold_amt: 'Intragovernmental Holdings',
    },
    by: [],
  },
  {
    path: 'v2/accounting/od/debt_outstanding',
    name: 'Historical Debt Outstanding',
    description: 'The public debt outstanding at the end of each fiscal year since 1790',
    frequency: 'annual',
    fields: { debt_outstanding_amt: 'Debt Outstanding Amount' },
    by: [],
  },
  {
    path: 'v2/accounting/od/avg_interest_rates',
    name: 'Average Interest Rates on U.S. Treasury Securities',
    description: 'By type of security, at the end of each month',
    frequency: 'monthly',
    fields: { avg_interest_rate_amt: 'Average Interest Rate' },
    by: ['security_type_desc', 'security_desc'],
  },
  {
    path: 'v1/accounting/od/rates_of_exchange',
    name: 'Treasury Reporting Rates of Exchange',
    description: 'By currency, at the end of each quarter',
    frequency: 'quarterly',
    fields: { exchange_rate: 'Exchange Rate' },
    by: ['country_currency_desc'],
  },
  {
    path: 'v1/accounting/dts/operating_cash_balance',
    name: 'Operating Cash Balance',
    description: "The Treasury's daily cash balance, by account",
    frequency: 'daily',
    fields: { open_today_bal: 'Opening Balance Today', close_today_bal: 'Closing Balance Today' },
    by: ['account_type'],
    // Since 18 April 2022 the closing balance is a type of account, and its value is in the column of the opening
    // balance.
    moved: { from: 'close_today_bal', to: 'open_today_bal', where: /closing balance/i },
  },
  {
    path: 'v1/debt/mspd/mspd_table_1',
    name: 'Summary of Treasury Securities Outstanding',
    description: 'By class of security, at the end of each month',
    frequency: 'monthly',
    fields: {
      total_mil_amt: 'Total Public Debt Outstanding (in Millions)',
      debt_held_public_mil_amt: 'Debt Held by the Public (in Millions)',
      intragov_hold_mil_amt: 'Intragovernmental Holdings (in Millions)',
    },
    by: ['security_type_desc', 'security_class_desc'],
  },
  {
    path: 'v2/accounting/od/gold_reserve',
    name: 'U.S. Treasury-Owned Gold',
    description: 'By facility and form, at the end of each month',
    frequency: 'monthly',
    fields: { fine_troy_ounce_qty: 'Fine Troy Ounces', book_value_amt: 'Book Value' },
    by: ['facility_desc', 'form_desc', 'location_desc'],
  },
]
