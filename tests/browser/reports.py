"""Every report that a command writes, on small data, as its `--html` writes it."""

import os
import shlex
from contextlib import contextmanager

from click.testing import CliRunner

from discreet.cli.main import main

FILES = {
    "list.txt": "sex*town\ntown*ill\n",
    "areas.csv": "area,sampled,people,miners\nNorth,10,50,1\nSouth,10,200,2\nEast,20,30,4\n"
    "West,10,200,0\nHills,20,30,1\nCoast,10,50,3\n",
    "asked.csv": "user,margin,count,weight\nHealth,Race*Gender,3,2\n"
    "Labour and social affairs,Race*Income,10,\nLabour and social affairs,Gender,1,\n",
    "household.csv": "home,sex,age,town,ill,w\n1,f,30,A,no,10\n1,m,30,A,no,10\n2,f,30,A,yes,12\n"
    "2,m,40,B,no,12\n3,f,50,B,no,5\n3,f,50,B,yes,5\n4,m,,B,yes,8\n5,m,40,A,no,20\n",
    "people.csv": "id,age,ill,region\n1,20,no,North\n2,24,no,North\n3,30,no,North\n4,34,yes,North\n"
    "5,40,yes,South\n6,44,yes,South\n7,50,no,South\n8,60,no,South\n9,70,yes,South\n",
    "masked.csv": "id,age,ill\n2,20.2,no\n4,30.1,yes\n6,39.9,yes\n7,50.2,no\n8,60.1,yes\n"
    "9,69.8,yes\n",
    "intruder.toml": '[keys.age]\nkind = "normal"\nspread = 1.0\n',
    "vague.toml": '[keys.age]\nkind = "normal"\nspread = 8.0\n',
    "harm.toml": 'sensitive = "ill"\nq = 0.95\ngroup = ["region"]\n[costs]\nFN = 1\nTN = 2\n'
    "FF = 10\nFT = 6\nTF = 8\nTT = 5\n",
    "illness.csv": "Town,Ill,count\nNorth,flu,30\nNorth,cold,6\nNorth,cough,4\nNorth,none,20\n"
    "South,flu,10\nSouth,cold,9\nSouth,cough,8\nSouth,none,20\n",
    "users.toml": '[[users]]\nname = "a neighbour"\nrole = "intruder"\ntarget = "small"\n'
    'loss = "zero-one"\nprior = ["uniform", "release"]\nthreshold = 0.6\nright = 1.0\n'
    'wrong = 0.2\n[[users]]\nname = "a sociologist"\nrole = "scientist"\n'
    'target = { share = { Income = "over $25,000" }, of = { Race = "Black" } }\n'
    'loss = "squared"\nprior = "release"\n',
    "masks.toml": 'keys = ["age", "town"]\nsensitive = ["ill"]\n'
    '[[users]]\nname = "a doctor"\ncolumns = ["ill"]\nleast = 0.5\n'
    '[[masks]]\nname = "half of the records"\nmethod = "sample"\nshare = 0.5\n'
    '[[masks]]\nname = "everything, unmasked"\nmethod = "sample"\nshare = 1.0\n',
}
TRACT = 'example:tract --release "Race*Income + Income*Gender"'
COMMANDS = {
    "assess-pass": 'assess example:tract --release "Gender*Income + Race"',
    "assess-fail": f"assess {TRACT}",
    "batch": "assess household.csv --records --tables list.txt",
    "bounds": f"bounds {TRACT}",
    "frontier": "frontier example:tract --requests asked.csv",
    "identify": "identify --source people.csv --released masked.csv --id id --keys age "
    "--intruder intruder.toml --harm harm.toml",
    "identify-several": "identify --source people.csv --released masked.csv --id id "
    "--intruder intruder.toml --intruder vague.toml",
    "uniques": "uniques household.csv --keys sex,age,town --weights w --sensitive ill "
    "--household home --k 2",
    "knowledge": "knowledge example:estates --target Estate --group Region "
    "--uncertainty largest --limit 0.25",
    "knowledge-total": "knowledge --total 507.862 --number 11 --minimum 10 --alpha 1.2765 "
    "--limit 0.25 --rule p:0.1 --rule dominance:1:0.8 --largest 200,150 --alphas 0.2:10",
    "knowledge-hidden": "knowledge illness.csv --count count --target Ill --group Town "
    '--limit 0.55 --merge "flu or cold=flu,cold"',
    "publish": "publish areas.csv --sample-size sampled --population people "
    "--cell-count miners --alpha 0.5 --beta 1.5 --risk 0.25",
    "posterior": f"posterior {TRACT}",
    "posterior-sensitivity": f"posterior {TRACT} --sensitivity",
    "mask": 'mask example:tract --release "Race*Gender + Gender*Income" --out release --force',
    "check": "check release --against example:tract",
    "compare": "compare household.csv --records --without home --masks masks.toml "
    "--set masks.limit=0.3",
    "choose": "choose example:tract --users users.toml --limit 0.7 "
    '--release "Race + Income*Gender" --release "Race*Income + Gender" '
    '--release "Race*Income + Income*Gender"',
    "together": "together example:tract --variables Race,Income --released threes --released fives",
    "count": f"count {TRACT}",
    "widths": "widths example:tract",
    "diff": "diff before.json after.json",
    "look": "look household.csv",
}
BEFORE = {
    "together": [
        'mask example:tract --release "Race*Income" --method round --rounding conventional '
        f"--base {base} --out {folder} --force"
        for base, folder in ((3, "threes"), (5, "fives"))
    ],
    "check": ['mask example:tract --release "Race*Gender + Gender*Income" --out release --force'],
}
DIFFED = {
    "before.json": f"assess {TRACT} --json",
    "after.json": 'assess example:tract --release "Gender*Income + Race" --json',
}
LEAST = 11  # pixels of a letter
WRONG = """least => {
    const wide = innerWidth, found = [], visible = box => box.width > 0 && box.height > 0;
    if (document.scrollingElement.scrollWidth > wide) found.push("the page scrolls sideways");
    const boxed = one => {
        for (let up = one.parentElement; up; up = up.parentElement)
            if (getComputedStyle(up).overflowX === "auto")
                return up.getBoundingClientRect().right <= wide + .5;
        return false;
    };
    for (const one of document.querySelectorAll("body *:not(svg *)")) {
        const box = one.getBoundingClientRect();
        if (visible(box) && (box.right > wide + .5 || box.left < -.5) && !boxed(one))
            found.push(`off the screen: ${one.outerHTML.slice(0, 80)}`);
    }
    const light = colour => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(
            c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b + .05;
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    for (const chart of document.querySelectorAll("svg")) {
        const edge = chart.getBoundingClientRect();
        if (!visible(edge)) continue;
        const scale = edge.width / chart.viewBox.baseVal.width;
        for (const text of chart.querySelectorAll("text")) {
            const box = text.getBoundingClientRect(), style = getComputedStyle(text);
            if (!visible(box)) continue;
            const ink = light(style.fill), said = text.textContent.slice(0, 40);
            if (parseFloat(style.fontSize) * scale < least) found.push(`too small: ${said}`);
            if (Math.max(ink, ground) / Math.min(ink, ground) < 4.5) found.push(`pale: ${said}`);
            if (box.right > edge.right + 1 || box.left < edge.left - 1 || box.right > wide
                || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
                found.push(`cut off: ${said}`);
        }
    }
    return found;
}"""


@contextmanager
def files(folder):
    """In the folder, with everything that the commands read."""
    back = os.getcwd()
    os.chdir(folder)
    try:
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
        yield
    finally:
        os.chdir(back)


def write_reports(folder, names=tuple(COMMANDS)):
    """The reports of these names as files, by name."""
    with files(folder):
        for name in names:
            for command in BEFORE.get(name, ()):
                _run(command)
            if name == "diff":
                for file, command in DIFFED.items():
                    (folder / file).write_text(_run(command), encoding="utf-8")
            _run(f"{COMMANDS[name]} --html {name}.html")
    return {name: folder / f"{name}.html" for name in names}


def _run(command):
    done = CliRunner().invoke(main, shlex.split(command))
    assert done.exit_code in (0, 1), f"{command}\n{done.output}\n{done.exception!r}"
    return done.stdout


def whats_wrong(page):
    """Of what the screen shows: off it, too small, too pale, cut off; in a line each."""
    return page.evaluate(WRONG, LEAST)[:5]
