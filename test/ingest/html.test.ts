import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useBench } from './support/helper.ts'
import { zipOf } from './support/zips.ts'

const bench = useBench()
const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures', name))
const rows = (...all: string[]) => all.map((cells) => `<tr>${cells}</tr>`).join('\n')
const td = (...texts: string[]) => texts.map((text) => `<td>${text}</td>`).join('')
const th = (...texts: string[]) => texts.map((text) => `<th>${text}</th>`).join('')
const AUTO = { options: { dialect: 'auto' } } as const

/** As Excel writes a sheet as a web page, and programs write what they call xls. */
const EXCEL = `<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head>
<meta http-equiv=Content-Type content="text/html; charset=windows-1252">
<style>td {mso-number-format:"\\@"}</style><!--[if gte mso 9]><xml><x:Name><table></x:Name></xml><![endif]--></head>
<body><h3>Ums\u00e4tze</h3><table border=1 x:str>
<tr height=20><td>Stadt</td><td>Datum</td><td class=xl65>Betrag&nbsp;(&euro;)</td></tr>
<tr><td>M\u00fcnchen</td><td>31.12.2023</td><td align=right>1.234,50</td></tr>
<tr><td>K&ouml;ln<br>
  Mitte</td><td> 01.01.2024 </td><td>&nbsp;</td></tr>
<tr><td>Essen, "S&#252;d"</td><td>02.01.2024<script>document.write('<td>x')</script></td><td>-5,25<!-- no --></td></tr>
<![if supportMisalignedColumns]><tr height=0 style='display:none'><td width=64></td><td></td><td></td></tr><![endif]>
</table></body></html>`

describe('an HTML table', () => {
  test('that is called xls is read as csv is, with the texts that a browser shows', async () => {
    const read = await bench.read('xls', Buffer.from(EXCEL, 'latin1'), AUTO)
    expect(read.shape).toEqual(['Stadt: string', 'Datum: date', 'Betrag (€): double'])
    expect(read.values).toEqual([
      ['München', '2023-12-31', '1234.5'],
      ['Köln\nMitte', '2024-01-01', null],
      ['Essen, "Süd"', '2024-01-02', '-5.25'],
    ])
    expect(read.options).toEqual({ dates: 'D.M.YYYY', decimal: ',', thousands: '.' })
    expect([read.warnings, read.table, read.tables]).toEqual([undefined, '1', ['1']])
    const options = { decimal: ',', thousands: '.', header: 'absent', skip: 1 } as const
    const plain = await bench.read('xls', Buffer.from(EXCEL, 'latin1'), { options })
    expect(plain.shape).toEqual(['column1: string', 'column2: string', 'column3: double'])
  })

  test('has the encoding of its mark, of its meta element, of the request, or that which it seems to have', async () => {
    const page = (label: string) =>
      `<html><meta charset="${label}">${'<!-- -->'.repeat(999)}<table>${rows(th('ä'), td('ž'))}</table>`
    const values = [['ž']]
    const inUtf16 = Buffer.from(`\ufeff${page('utf-8')}`, 'utf16le')
    expect((await bench.read('html', inUtf16)).values).toEqual(values)
    expect((await bench.read('html', `\ufeff${page('latin1')}`)).values).toEqual(values)
    expect((await bench.read('html', page('no such label'))).values).toEqual(values)
    const latin2 = Buffer.from(page('ISO-8859-2').replace('ä', '\xe4').replace('ž', '\xbe'), 'latin1')
    const read = await bench.read('html', latin2)
    expect([read.shape, read.values]).toEqual([['ä: string'], values])
    expect(await bench.refusal('html', page('windows-1252'))).toContain('The file is UTF-8, not windows-1252')
    const options = { encoding: 'utf-8' } as const
    expect((await bench.read('html', page('windows-1252'), { options })).values).toEqual(values)
    expect(await bench.refusal('html', latin2, { options })).toContain('The file is not UTF-8')
  })

  test('has the names of its head, whose rows are joined, and titles in its caption', async () => {
    const table = `<table><caption>Sales of <b>2024</b></caption><thead>
      <tr><th rowspan=2>Land<th colspan=2>2024</tr><tr><th>Q1<th>Q2<br>(first)</tr></thead><tbody>
      ${rows('<td rowspan="2">AT<td>1<td>2', '<td>3<td>4', '<td>DE<td colspan=2>5', td('FR', '6', '7'))}
      </tbody><tfoot>${rows(td('Total', '15', '13'))}</tfoot></table>`
    for (const given of [{}, AUTO]) {
      const read = await bench.read('html', table, given)
      expect(read.shape).toEqual(['Land: string', '2024 Q1: integer', '2024 Q2 (first): integer'])
      expect(read.values).toEqual([
        ['AT', '1', '2'],
        [null, '3', '4'],
        ['DE', '5', null],
        ['FR', '6', '7'],
      ])
      expect([read.metadata, read.table]).toEqual([{ title: 'Sales of 2024' }, 'Sales of 2024'])
      expect(read.warnings?.join(' ')).toMatch(
        /the others are null: A3:A4, B5:C5\..*\(tfoot\).*"Total; 15; 13"/s,
      )
    }
    const whole = await bench.read('html', table, { options: { footer: 0 } })
    expect([whole.rows, whole.warnings?.length]).toEqual([5, 1])
    const years = `<table>${rows(th('2020', '2021'), td('1', '2'))}</table>`
    expect((await bench.read('html', years, AUTO)).shape).toEqual(['2020: integer', '2021: integer'])
  })

  test('is read as pandas wrote it', async () => {
    const { shape, values } = await bench.read('html', fixture('pandas.html'))
    expect(shape).toEqual(['key: integer', 'a: integer', 'b: string', 'Größe (cm): double'])
    expect(values).toEqual([
      ['0', '1', 'x', '1.5'],
      ['1', '2', null, '2.25'],
      ['2', '3', 'z <&>', null],
    ])
  })

  test('leaves out what a page hides, and says so', async () => {
    const table = `<table>${rows(th('a', 'b'), '<td>1<span style="display: none">9</span><td hidden>x<td>2')}
      <tr style='color:red;display:none'>${td('3', '4')}</tr></table>`
    const { values, warnings } = await bench.read('html', table)
    expect(values).toEqual([['1', '2']])
    expect(warnings).toEqual(['What the page does not show (display:none) is left out: "9".'])
  })

  test('may have one column, whose name looks like csv', async () => {
    for (const given of [{}, AUTO]) {
      const { shape, values } = await bench.read(
        'html',
        `<table>${rows(th('a;b'), td('1;2'), td('3;4'))}</table>`,
        given,
      )
      expect([shape, values]).toEqual([['a;b: string'], [['1;2'], ['3;4']]])
    }
  })

  test('may lack end tags, tr and spaces', async () => {
    const { values } = await bench.read('html', '<TABLE><TH>a<TH>b<TR><TD><B>1<TD>2<TR><TD>3<TD>4</TABLE>')
    expect(values).toEqual([
      ['1', '2'],
      ['3', '4'],
    ])
  })

  test('that is not whole, or whose rows have other lengths, is refused with the row', async () => {
    const cut = `<table>${rows(th('a', 'b'), td('1', '2'))}<tr><td>3</td><td>4`
    expect(await bench.refusal('html', cut)).toBe(
      '400 invalid_upload: Row 2: the file ends within the table, before </table>. Get it again.',
    )
    const ragged = `<table>${rows(th('a', 'b'), td('1', '2'), td('3'))}</table>`
    expect(await bench.refusal('html', ragged)).toContain('Row 2: it has 1 of the 2 fields of the header')
    const bomb = `<table>${rows(th('a'), ...Array(20).fill('<td colspan=1000>x'))}</table>`
    expect(await bench.refusal('html', bomb)).toContain('Row 1: it has more fields than the 1 of the header')
    const deep = `<table>${rows(th('a'))}${'<b>'.repeat(20_000)}</table>`
    expect(await bench.refusal('html', deep)).toContain('within more than 10000 others')
  })
})

describe('of a page', () => {
  const page = `<html><body><table id=nav>${rows(td('Home', 'About'))}</table><p>Welcome to the bureau of tables</p>
    <table><tr><td>menu<td><table id=2>${rows(th('a'), td('1'))}</table></table>
    <table><caption>Prices</caption>${rows(th('a'), td('2'))}</table></body></html>`

  test('the table that is named is read, none that holds another', async () => {
    const tables = ['nav', '2', 'Prices']
    await expect(bench.read('html', page)).rejects.toMatchObject({
      message: expect.stringContaining('The page has several tables: name one of "nav", "2", "Prices"'),
      details: { option: 'table', tables },
    })
    const read = await bench.read('html', page, { options: { table: 'Prices', dialect: 'auto' } })
    expect([read.values, read.tables, read.options]).toEqual([
      [['2']],
      tables,
      { table: 'Prices', header: 'present' },
    ])
    expect((await bench.read('html', page, { options: { table: '2' } })).values).toEqual([['1']])
    expect(await bench.refusal('html', page, { options: { table: 'x' } })).toContain('it has "nav"')
  })

  test('the only one with header cells is meant', async () => {
    const { values, table } = await bench.read(
      'html',
      page.replace('Prices', '').replace(/<th>a(?=[\s\S]*1)/, '<td>a'),
    )
    expect([values, table]).toEqual([[['2']], '3'])
  })

  test.each([
    ['a login', `<table>${rows(td('User', '<input>'), td('Password', '<input type=password>'))}</table>`],
    ['an error', `<h1>Unavailable</h1><table>${rows(td('Error', '503'), td('Host', 'x'))}</table>`],
    ['one column', `<table>${rows(td('Access denied'), td('Ask your administrator'))}</table>`],
    ['a frame', '<frameset><frame src="sheet001.htm"></frameset>'],
  ])('%s is no table', async (_, body) => {
    for (const format of ['html', 'xls'] as const) {
      const error = await bench.refusal(format, `<!DOCTYPE html><html><body>${body}</body></html>`)
      expect(error).toContain('The file is a web page (HTML), perhaps an error or a login page')
    }
  })

  test('a table without header cells is read if it is named', async () => {
    const page = `<p>${'Some text. '.repeat(9)}</p><table>${rows(td('a', 'b'), td('1', '2'))}</table>`
    expect(await bench.refusal('html', page)).toContain('if one of them is meant, name it with table=: "1"')
    expect((await bench.read('html', page, { options: { table: '1' } })).values).toEqual([['1', '2']])
  })

  test('nothing is read in an archive of others', async () => {
    const zip = await zipOf({ 'about.html': page, 'a.csv': 'a\n1\n' })
    expect((await bench.read('zip', zip)).entries).toEqual(['a.csv'])
    const all = await bench.read('zip', zip, { options: { entry: '*' } })
    expect([all.values, all.warnings]).toEqual([[['1']], ['The page "about.html" was left out.']])
    const named = { options: { entry: 'about.html', table: 'Prices' } }
    expect((await bench.read('zip', zip, named)).values).toEqual([['2']])
  })
})
