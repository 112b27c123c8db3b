import { render } from 'preact'
import { App } from './app.tsx'
import './styles/index.css'
import { restoreTheme } from './theme.ts'

restoreTheme()
render(<App />, document.getElementById('app')!)
performance.mark('parquetry:interactive')
