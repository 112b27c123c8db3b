import { render } from 'preact'
import { App } from './app.tsx'
import './styles/index.css'
import { signInFromAddress } from './session.ts'
import { restoreTheme } from './theme.ts'

restoreTheme()
await signInFromAddress()
render(<App />, document.getElementById('app')!)
performance.mark('parquetry:interactive')
