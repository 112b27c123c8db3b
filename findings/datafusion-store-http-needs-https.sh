#!/usr/bin/env bash
# DataFusion 55.0.0 (PyPI), `datafusion.object_store.Http`, on a csv that a server on this machine sends by http.
# Guess: a store of that name reads addresses of http.
# Found: an error “builder error” before anything is sent; the store takes https alone, and has no option for more.
# What to do: give the address of the proxy that speaks TLS, or download the file and register that.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q datafusion==55.0.0
printf 'n\n1\n2\n' >rows.csv
cat >try.py <<'PY'
import http.server
import threading
import urllib.request

from datafusion import SessionContext
from datafusion.object_store import Http

requests = []


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        requests.append(self.command)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
host = f'127.0.0.1:{server.server_port}'
context = SessionContext()
context.register_object_store('http://', Http(f'http://{host}'), host)
try:
    context.register_csv('rows', f'http://{host}/rows.csv')
    print('read')
except Exception as error:
    print('builder error' if 'builder error' in str(error) else error, len(requests))
print(urllib.request.urlopen(f'http://{host}/rows.csv').read())
PY
seen=$(venv/bin/python try.py)
expected="builder error 0
b'n\\n1\\n2\\n'"
echo "seen: $seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
