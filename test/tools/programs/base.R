# Does the tasks of standard input, one a line: way, format, path, type and values, separated by tabs; a value is
# percent-encoded, "-" is null, and values are separated by "|". Answers with JSON lines, as the Python programs do.

decoded <- function(text) {
  parts <- strsplit(text, "|", fixed = TRUE)[[1]]
  vapply(parts, function(one) if (one == "-") NA_character_ else {
    decoded <- utils::URLdecode(sub("^=", "", one))
    Encoding(decoded) <- "UTF-8"
    decoded
  }, "", USE.NAMES = FALSE)
}

native <- function(type, values) {
  switch(sub("\\(.*", "", type),
    boolean = values == "true",
    integer = as.numeric(values),
    double = as.numeric(sub("INF", "Inf", values)),
    decimal = as.numeric(values),
    date = as.Date(values),
    timestamp = as.POSIXct(values, format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC"),
    timestamptz = as.POSIXct(values, format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC"),
    values
  )
}

quoted <- function(text) {
  text <- gsub("\\", "\\\\", enc2utf8(text), fixed = TRUE)
  text <- gsub("\"", "\\\"", text, fixed = TRUE)
  text <- gsub("\n", "\\n", text, fixed = TRUE)
  text <- gsub("\t", "\\t", text, fixed = TRUE)
  paste0("\"", gsub("\r", "\\r", text, fixed = TRUE), "\"")
}

# The shortest text that is the same number again.
digits <- function(numbers) {
  short <- sprintf("%.15g", numbers)
  ifelse(is.finite(numbers) & as.numeric(short) != numbers, sprintf("%.17g", numbers), short)
}

cells <- function(column) {
  kind <- switch(class(column)[1], logical = "bool", integer = "int", numeric = "float", "str")
  text <- if (is.logical(column)) tolower(column) else if (is.numeric(column)) digits(column) else column
  shown <- ifelse(is.na(column) & !is.nan(column), "[\"null\",null]", sprintf("[\"%s\",%s]", kind, quoted(text)))
  paste0("{\"cells\":[", paste(shown, collapse = ","), "]}")
}

readers <- list(
  csv = function(path) read.csv(path, check.names = FALSE, na.strings = ""),
  tsv = function(path) read.delim(path, check.names = FALSE, na.strings = "")
)
writers <- list(
  csv = function(frame, path) write.csv(frame, path, row.names = FALSE, na = "", fileEncoding = "UTF-8"),
  tsv = function(frame, path) write.table(frame, path, sep = "\t", row.names = FALSE, na = "", qmethod = "double", fileEncoding = "UTF-8")
)

for (line in readLines(file("stdin"), encoding = "UTF-8")) {
  task <- strsplit(line, "\t", fixed = TRUE)[[1]]
  program <- if (task[1] == "download") readers[[task[2]]] else writers[[task[2]]]
  answer <- if (is.null(program)) "{\"none\":true}" else tryCatch({
    if (task[1] == "download") {
      cells(program(task[3])$value)
    } else {
      values <- native(task[4], decoded(task[5]))
      program(data.frame(n = seq_along(values), value = values), task[3])
      "{}"
    }
  }, error = function(error) paste0("{\"error\":", quoted(conditionMessage(error)), "}"))
  cat(answer, "\n", sep = "")
}
