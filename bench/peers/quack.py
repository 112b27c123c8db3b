"""DuckDB's own server, Quack, whose protocol only DuckDB speaks.

serve PORT FILE NAME=PARQUET…  serves the tables from a database file, which is made where there is none
ask PORT QUACK                 answers on PORT what it is asked in SQL, by a DuckDB that asks the server on port QUACK:
                               with the rows as JSON, or with their number at /count, where they stay in DuckDB
"""

import importlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb

TOKEN = 'the token of the benchmark'


def connected(file=':memory:'):
    connection = duckdb.connect(file)
    for name in ('httpfs', 'quack'):
        package = Path(importlib.import_module(f'duckdb_extension_{name}').__file__).parent
        connection.execute(f"LOAD '{next(package.glob(f'extensions/*/{name}.duckdb_extension'))}'")
    return connection


def serve(port, file, *tables):
    exists = os.path.exists(file)
    connection = connected(file)
    for name, parquet in [] if exists else [table.split('=', 1) for table in tables]:
        connection.execute(f"CREATE TABLE {name} AS FROM '{parquet}'")
    connection.execute(f"CALL quack_serve('quack:127.0.0.1:{port}', token = '{TOKEN}')")
    threading.Event().wait()


def ask(port, quack):
    connection = connected()
    connection.execute(f"CREATE SECRET (TYPE quack, TOKEN '{TOKEN}')")
    local = threading.local()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        disable_nagle_algorithm = True

        def do_POST(self):
            if not hasattr(local, 'cursor'):
                local.cursor = connection.cursor()
            sql = self.rfile.read(int(self.headers['content-length'])).decode()
            source = f"quack_query('quack:127.0.0.1:{quack}', ?)"
            try:
                if self.path == '/count':
                    local.cursor.execute(f'CREATE OR REPLACE TEMP TABLE answer AS FROM {source}', [sql])
                    status, answer = 200, local.cursor.execute('SELECT count(*) FROM answer').fetchone()
                else:
                    status, answer = 200, local.cursor.execute(f'FROM {source}', [sql]).fetchall()
            except duckdb.Error as error:
                status, answer = 503, str(error)
            body = json.dumps(answer, default=str).encode()
            self.send_response(status)
            self.send_header('content-length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    ThreadingHTTPServer(('127.0.0.1', int(port)), Handler).serve_forever()


{'serve': serve, 'ask': ask}[sys.argv[1]](*sys.argv[2:])
