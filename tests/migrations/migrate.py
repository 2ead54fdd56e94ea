"""Migrates the outbox tables that its input names, see run.py."""

import sys
from urllib.parse import urlsplit

import openjobspec as ojs
import psycopg
import pymysql
from openjobspec.outbox import Outbox

url = sys.argv[1]
place = urlsplit(url)
if place.scheme == "mysql":
    dialect = "mysql"
    connection = pymysql.connect(host=place.hostname, port=place.port or 3306, user=place.username,
                                 password=place.password or "", database=place.path[1:], autocommit=True)  # fmt: skip
else:
    dialect = "postgresql"
    connection = psycopg.connect(url, autocommit=True)
client = ojs.Client("memory:")
print("ready", flush=True)
for line in sys.stdin:
    Outbox(client, database=dialect, table=line.strip()).migrate(connection)
    print("done", flush=True)
