import fastexcel
from common import serve

serve({"xlsx": lambda path: fastexcel.read_excel(path).load_sheet(0).to_arrow()["value"].to_pylist()}, {})
