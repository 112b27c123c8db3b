import glob
import json
import os
import shutil
from datetime import timezone

from common import serve
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

# Moments with a zone come to Python as those of the process.
os.environ["TZ"] = "UTC"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.timeType.enabled": "true",
}
builder = SparkSession.builder.master("local[1]")
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")

KINDS = {
    "boolean": t.BooleanType(),
    "integer": t.LongType(),
    "double": t.DoubleType(),
    "decimal(18,4)": t.DecimalType(18, 4),
    "decimal(38,10)": t.DecimalType(38, 10),
    "date": t.DateType(),
    "time": t.TimeType(6),
    "timestamp": t.TimestampNTZType(),
    "timestamptz": t.TimestampType(),
    "binary": t.BinaryType(),
}


def shown(value, of):
    if value is not None and isinstance(of, t.TimestampType):
        return value.replace(tzinfo=timezone.utc)
    return value.asDict(True) if isinstance(value, t.Row) else value


def reader(format, **options):
    def read(path):
        frame = spark.read.format(format).options(**options).load(path)
        of = frame.schema["value"].dataType
        return [shown(value, of) for (value,) in frame.orderBy("n").select("value").collect()]

    return read


def writer(format, **options):
    def write(path, numbers, values, kind):
        of = KINDS.get(kind, t.StringType())
        if kind == "uuid":
            values = [value and str(value) for value in values]
        schema = t.StructType([t.StructField("n", t.LongType()), t.StructField("value", of)])
        if kind == "json" and format == "json":
            values = [None if value is None else json.dumps(value) for value in values]
        frame = spark.createDataFrame(list(zip(numbers, values)), schema).coalesce(1)
        if kind == "json" and format != "csv":
            frame = frame.withColumn("value", f.parse_json("value"))
        frame.write.format(format).options(**options).save(f"{path}.parts")
        (part,) = glob.glob(f"{path}.parts/part-*")
        shutil.move(part, path)

    return write


CSV = {"header": True, "escape": '"'}
READ_CSV = {**CSV, "inferSchema": True, "multiLine": True}

serve(
    {
        "csv": reader("csv", **READ_CSV),
        "tsv": reader("csv", sep="\t", **READ_CSV),
        "json": reader("json", multiLine=True),
        "ndjson": reader("json"),
        "parquet": reader("parquet"),
    },
    {
        "csv": writer("csv", **CSV),
        "tsv": writer("csv", sep="\t", **CSV),
        "ndjson": writer("json"),
        "parquet": writer("parquet"),
    },
)
