"""Files of R, written by R itself where it is installed, else by rdata."""

import shutil
import subprocess

import pandas as pd
import pytest
import rdata

from discreet.data.sources import open_source
from discreet.errors import DataError, WrongKind
from discreet.table.load import load

needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
PEOPLE = """
set.seed(1)
people <- data.frame(
  sex = factor(c("m", "f", NA, "f"), levels = c("m", "f", "x")),
  size = ordered(c("low", "high", "low", "mid"), levels = c("low", "mid", "high")),
  age = c(10L, NA, 9L, 9L), x = c(1, 2.5, NaN, NA), town = c("a", NA, "\\u00fc", "a"),
  day = as.Date(c("2020-03-01", NA, "2019-12-31", "2020-03-01")),
  at = as.POSIXct(c(0, 1.5, NA, 0), origin = "1970-01-01", tz = "Asia/Tokyo"),
  ok = c(TRUE, NA, FALSE, TRUE))
labelled <- function(x, ...) structure(x, class = c("haven_labelled_spss", "haven_labelled"), ...)
people$ill <- labelled(c(1, 2, 9, 1), label = "Health", na_values = 9,
  labels = c(good = 1, bad = 2, refused = 9))
people$score <- labelled(c(1, 98, 5, 1), labels = c("98 or more" = 98), na_range = c(100, 200))
saveRDS(people, "people.rds"); saveRDS(people, "packed.rds", compress = "xz")
other <- people[1:2, 1:2]; n <- 5; save(people, other, n, file = "both.rda")
save(people, n, file = "one.RData")
saveRDS(table(people$sex), "table.rds"); saveRDS(list(1), "list.rds")
saveRDS(data.frame(a = 1:2, row.names = c("Ann", "Bob")), "names.rds")
d <- data.frame(a = 1:2); d$b <- list(1, 2:3); saveRDS(d, "nested.rds")
d$b <- as.difftime(1:2, units = "mins"); saveRDS(d, "minutes.rds")
d$b <- structure(c(1, 2), class = "integer64"); saveRDS(d, "large.rds")
d$b <- as.POSIXlt(c("2020-01-01", "2020-01-02")); saveRDS(d, "parts.rds")
names(d) <- c("a", "a"); d[[2]] <- 3:4; saveRDS(d, "twice.rds")
x <- c("K\\xf6ln", "Bonn"); Encoding(x) <- "latin1"
saveRDS(data.frame(x = x, y = 1:2), "latin.rds")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("r")
    subprocess.run(["Rscript", "--vanilla", "-e", PEOPLE], cwd=path, check=True, timeout=60)
    return path


@needs_r
@pytest.mark.parametrize("name", ["people.rds", "packed.rds", "one.RData"])
def test_factors_dates_labels_and_missing_values(folder, name):
    table = load(folder / name, records=True)
    found = {variable.name: variable.categories for variable in table.variables}
    gone = "(missing)"
    assert found["sex"] == ("m", "f", "x", gone)
    assert found["size"] == ("low", "mid", "high")
    assert found["age"] == ("9", "10", gone)
    assert found["x"] == ("1", "2.5", gone)
    assert found["town"] == ("a", "ü", gone)
    assert found["day"] == ("2019-12-31", "2020-03-01", gone)
    assert found["at"][0].startswith("1970-01-01 09:00:00")
    assert found["ok"] == ("false", "true", gone)
    assert found["ill"] == ("good", "bad", gone)
    assert found["score"] == ("1", "5", "98 or more")
    source = open_source(folder / name)
    assert source.codebook.entries["ill"].title == "Health"
    assert "9 (refused) of 'ill'" in source.notes[0]


@needs_r
def test_one_of_several_data_frames_is_named(folder):
    with pytest.raises(DataError, match="data frames 'people', 'other'; name one by --table"):
        open_source(folder / "both.rda")
    assert open_source(folder / "both.rda", table="other").columns == ("sex", "size")
    with pytest.raises(DataError, match="no data frame 'n'"):
        open_source(folder / "both.rda", table="n")


@needs_r
def test_text_of_an_older_encoding(folder):
    assert load(folder / "latin.rds", records=True).variable("x").categories == ("Bonn", "Köln")


@needs_r
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("table", "a table of R whose axes have no names"),
        ("list", "holds no data frame"),
        ("names", "row names such as 'Ann'"),
        ("nested", "column 'b' of 'nested.rds' is a list of R"),
        ("minutes", "is a difftime of R"),
        ("large", "is a integer64 of R|is an integer64 of R"),
        ("parts", "is a POSIXlt of R"),
        ("twice", "two columns named 'a'"),
    ],
)
def test_what_would_be_misread_is_refused(folder, name, reason):
    with pytest.raises(DataError, match=reason):
        open_source(folder / f"{name}.rds")


def test_cells_are_seen_for_what_they_are(tmp_path):
    cells = pd.DataFrame(
        {"sex": pd.Categorical([*"ffmm"]), "ill": [1, 2, 1, 2], "Freq": [3, 4, 9, 2]}
    )
    rdata.write_rds(tmp_path / "cells.rds", cells)
    with pytest.raises(WrongKind, match="count='Freq'"):
        load(tmp_path / "cells.rds")
    assert load(tmp_path / "cells.rds", count="Freq").total == 18


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    path = tmp_path / "people.rds"
    rdata.write_rds(path, pd.DataFrame({"a": range(100)}), compression="bzip2")
    content = path.read_bytes()
    for end in (20, len(content) // 2, len(content) - 4):
        path.write_bytes(content[:end])
        with pytest.raises(DataError, match=r"people.rds"):
            load(path)
