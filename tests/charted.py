"""What a chart says, for tests."""

import json


def words(chart):
    return json.dumps(chart.to_dict(), ensure_ascii=False)


def title(chart):
    return " ".join(chart.to_dict()["title"]["text"])


def rows(chart):
    return max(chart.to_dict()["datasets"].values(), key=len)


def size(chart, tmp_path):
    chart.save(tmp_path / "chart.svg")
    head = (tmp_path / "chart.svg").read_text(encoding="utf-8").split("viewBox=")[1]
    return [float(x) for x in head.split('"')[1].split()[2:]]
