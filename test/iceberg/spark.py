"""Reads a catalog with Spark and prints what it found as JSON, one finding on each line.

Arguments: address of the catalog, key of a reader. A line on the standard input says that the table `moving` has been
written.
"""

import json
import sys

from pyspark.sql import SparkSession

address, key = sys.argv[1:]


def session(token):
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        # So that the plan of a query says what it read.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "rest",
        "spark.sql.catalog.lake.uri": address,
        "spark.sql.catalog.lake.token": token,
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def found(what, value):
    print(json.dumps([what, value]), flush=True)


def values(sql):
    return [list(row) for row in spark.sql(sql).collect()]


def rows(name):
    table = spark.table(name)
    return [list(row) for row in table.select([table[column].cast("string") for column in table.columns]).collect()]


def files_read(sql):
    frame = spark.sql(sql)
    frame.collect()
    scan = frame._jdf.queryExecution().executedPlan().collectLeaves().head()
    return scan.metrics().get("resultDataFiles").get().value()


def refusal(sql):
    try:
        spark.sql(sql).collect()
    except Exception as error:
        return str(getattr(error, "java_exception", error))
    return "nothing"


spark = session(key)
spark.sparkContext.setLogLevel("OFF")
found("namespaces", values("SHOW NAMESPACES IN lake"))
found("tables", sorted(row[1] for row in values("SHOW TABLES IN lake.tables")))
found("columns", [row[:2] for row in values("DESCRIBE lake.tables.`every type`")])
for name in ["every type", "many"]:
    found("count " + name, values(f"SELECT count(*) FROM lake.tables.`{name}`"))
    found(name, rows(f"lake.tables.`{name}`"))
found("bytes", values("SELECT hex(bytes) FROM lake.tables.bytes"))
few = "SELECT n FROM lake.tables.many WHERE n >= 10000 AND d IS NOT NULL"
found("files", [files_read(few), files_read("SELECT n FROM lake.tables.many")])
found("before", rows("lake.tables.moving"))
sys.stdin.readline()
found("pinned", rows("lake.tables.`moving@1`"))
spark.sql("REFRESH TABLE lake.tables.moving")
found("after", rows("lake.tables.moving"))
found("private", refusal("SELECT * FROM lake.secret.secret"))
found("dropped", refusal("DROP TABLE lake.tables.moving"))
found("written", refusal("DELETE FROM lake.tables.moving"))
found("clock", refusal("SELECT n FROM lake.times.times"))
