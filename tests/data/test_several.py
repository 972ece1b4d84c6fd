"""Several files as one: whoever is in them counts once, and nothing is mixed up."""

import pandas as pd
import pytest

import filewriters
from discreet.data.sources import open_source
from discreet.errors import DataError
from discreet.table.load import load

PARTS = [
    pd.DataFrame({"Sex": [*"ffmm"], "Age": [1, 2, 10, 2]}),
    pd.DataFrame({"Sex": [*"mfm"], "Age": [1, 9, 10]}),
    pd.DataFrame({"Sex": [*"ffx"], "Age": [1, 2, 2]}),
]


@pytest.fixture
def parts(tmp_path):
    for place, part in enumerate(PARTS):
        part.to_csv(tmp_path / f"people-{place}.csv", index=False)
    return tmp_path


def test_a_folder_a_pattern_and_a_list_are_the_records_of_all(parts):
    whole = load(pd.concat(PARTS), records=True)
    paths = sorted(parts.glob("*.csv"))
    for data in (parts, str(parts / "people-?.csv"), tuple(map(str, paths))):
        assert load(data, records=True) == whole
    assert "3 files are read as one" in open_source(parts).notes[0]


def test_columns_are_matched_by_name(parts):
    PARTS[0][["Age", "Sex"]].to_csv(parts / "people-0.csv", index=False)
    found = load(parts, records=True).margin(["Sex", "Age"])
    assert found == load(pd.concat(PARTS), records=True)


def test_types_that_differ_become_text(tmp_path):
    pd.DataFrame({"a": [1, 2, 3]}).to_parquet(tmp_path / "0.parquet")
    pd.DataFrame({"a": [1.0, 2.5, None]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": ["1", "x"]}).to_parquet(tmp_path / "2.parquet")
    found = load(tmp_path, records=True)
    assert found.variable("a").categories == ("1", "2", "2.5", "3", "x", "(missing)")
    assert found.counts.tolist() == [3, 1, 1, 1, 1, 1]


def test_orders_of_categories_are_kept_or_refused(tmp_path):
    def write(place, values, order):
        frame = pd.DataFrame({"size": pd.Categorical(values, order), "x": range(len(values))})
        frame.to_parquet(tmp_path / f"{place}.parquet")

    write(0, ["low", "high"], ["low", "high"])
    write(1, ["mid", "high", "low"], ["low", "mid", "high"])
    assert load(tmp_path, records=True).variable("size").categories == ("low", "mid", "high")
    write(2, ["low", "high"], ["high", "low"])
    with pytest.raises(
        DataError, match=r"'2.parquet' has the categories of 'size' in another order"
    ):
        load(tmp_path, records=True)


def test_labels_of_all_files_hold_and_must_agree(tmp_path):
    def write(place, labels, codes):
        sex = {"name": "sex", "labels": labels}
        path = tmp_path / f"{place}.sav"
        path.write_bytes(filewriters.sav([sex, {"name": "x"}], [(code, place) for code in codes]))

    write(0, {1: "m", 2: "f"}, [1, 2])
    write(1, {1: "m", 3: "x"}, [1, 3, 2])
    assert load(tmp_path, records=True).variable("sex").categories == ("m", "f", "x")
    write(2, {1: "f", 2: "m"}, [1, 2])
    with pytest.raises(DataError, match="labels of 'sex' differ"):
        load(tmp_path, records=True)


def test_what_would_count_somebody_twice_or_not_at_all_is_refused(parts):
    copy = parts / "people-0 (copy).csv"
    copy.write_bytes((parts / "people-0.csv").read_bytes())
    with pytest.raises(DataError, match="have the same content"):
        load(parts)
    one = parts / "people-1.csv"
    with pytest.raises(DataError, match="have the same content"):
        load([one, one])
    copy.unlink()
    with pytest.raises(DataError, match=r"'none.csv' is not there"):
        open_source([one, "none.csv"])
    PARTS[0].rename(columns={"Age": "Years"}).to_csv(one, index=False)
    with pytest.raises(DataError, match=r"has the column 'Age' and 'people-1.csv' has not"):
        load(parts)


def test_copies_in_another_order_are_copies(tmp_path):
    people = pd.concat([*PARTS, *PARTS], ignore_index=True)
    people.to_csv(tmp_path / "a.csv", index=False)
    people[::-1][["Age", "Sex"]].to_csv(tmp_path / "b.csv", index=False, lineterminator="\r\n")
    with pytest.raises(DataError, match=r"'a.csv' and 'b.csv' have the same 20 records"):
        load(tmp_path)
    people.assign(Age=3).to_csv(tmp_path / "b.csv", index=False)
    assert load(tmp_path).total == 40


def test_a_layout_in_a_folder_is_no_data(parts):
    (parts / "people.layout.csv").write_text("name,start,width\nSex,1,1\n")
    assert load(parts).total == 10


def test_kinds_are_not_mixed(parts, tmp_path_factory):
    PARTS[0].to_parquet(parts / "people.parquet")
    with pytest.raises(DataError, match=r"several kinds, .csv, .parquet; say which by a pattern"):
        load(parts)
    with pytest.raises(DataError, match="files of different kinds"):
        load([parts / "people-0.csv", parts / "people.parquet"])
    assert load(str(parts / "*.csv"), records=True).total == 10
    with pytest.raises(DataError, match=r"no file is named as .* says"):
        load(str(parts / "*.sav"))
    with pytest.raises(DataError, match="no file that can be read"):
        load(tmp_path_factory.mktemp("empty"))


def test_one_file_of_a_folder_is_that_file_and_a_name_with_marks_too(tmp_path):
    path = tmp_path / "people[1].csv"
    PARTS[0].to_csv(path, index=False)
    assert open_source(tmp_path).name == "'people[1].csv'"
    assert load(path, records=True).total == 4


def test_sheets_of_the_same_name_in_several_workbooks(tmp_path):
    for place, part in enumerate(PARTS):
        filewriters.xlsx(part, tmp_path / f"{place}.xlsx")
    assert load(tmp_path, table="People", records=True) == load(pd.concat(PARTS), records=True)
